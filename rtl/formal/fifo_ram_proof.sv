// fifo_ram against a shift register: no word is lost, made up, changed or overtaken between memory,
// its read register and the words behind it. The last assertions tie the registers to the model.

module fifo_ram_proof #(
  parameter int Width = 2,
  parameter int Depth = 4,  // of the memory, at most 4
  localparam int PointerBits = (Depth > 1) ? $clog2(Depth) : 1,
  localparam int UsageBits   = $clog2(Depth + 1),
  localparam int Held        = Depth + 3
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             wvalid_i,
  input logic [Width-1:0] wdata_i,
  input logic             rready_i
);

  logic             wready, rvalid;
  logic [Width-1:0] rdata;

  fifo_ram #(
    .Width(Width),
    .Depth(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .wvalid_i,
    .wready_o(wready),
    .wdata_i,
    .rvalid_o(rvalid),
    .rready_i,
    .rdata_o (rdata)
  );

  // Registers of the modules, by their names after flattening.
  (* hierconn *) wire [PointerBits-1:0] \u_dut.read_q ;
  (* hierconn *) wire [PointerBits-1:0] \u_dut.write_q ;
  (* hierconn *) wire [UsageBits-1:0]   \u_dut.usage_q ;
  (* hierconn *) wire                   \u_dut.fetched_q ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_ram.read_data_q ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_ram.mem_q[0] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_ram.mem_q[1] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_ram.mem_q[2] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_ram.mem_q[3] ;
  (* hierconn *) wire [1:0]             \u_dut.u_out.read_q ;
  (* hierconn *) wire [1:0]             \u_dut.u_out.write_q ;
  (* hierconn *) wire [1:0]             \u_dut.u_out.usage_q ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_out.mem_q[0] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_out.mem_q[1] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.u_out.mem_q[2] ;
  logic [4*Width-1:0] memory, behind;
  logic [3:0]         usage, fetched, out_usage;
  assign memory    = {\u_dut.u_ram.mem_q[3] , \u_dut.u_ram.mem_q[2] , \u_dut.u_ram.mem_q[1] ,
                      \u_dut.u_ram.mem_q[0] };
  assign behind    = {Width'(0), \u_dut.u_out.mem_q[2] , \u_dut.u_out.mem_q[1] ,
                      \u_dut.u_out.mem_q[0] };
  assign usage     = 4'(\u_dut.usage_q );
  assign fetched   = 4'(\u_dut.fetched_q );
  assign out_usage = 4'(\u_dut.u_out.usage_q );

  logic [Held*Width-1:0] model_q, model;  // oldest word in the low bits
  logic [3:0]            held_q, held;

  always_comb begin
    model = model_q;
    held  = held_q;
    if (rvalid && rready_i) begin
      model = model >> Width;
      held  = held - 4'd1;
    end
    if (wvalid_i && wready) begin
      model[held*Width +: Width] = wdata_i;
      held  = held + 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 4'd0;
    else held_q <= held;
    model_q <= model;
  end

  // Cycles in which a word is held and none is shown.
  logic [1:0] hidden_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || rvalid || (held_q == 4'd0)) hidden_q <= 2'd0;
    else hidden_q <= hidden_q + 2'd1;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    if (started_q) begin
      NoOverflow_A : assert (held_q <= 4'(Held));
      NoUnderflow_A : assert (!rvalid || (held_q != 4'd0));
      if (rvalid) Data_A : assert (rdata == model_q[Width-1:0]);
      Shown_A : assert (hidden_q <= 2'd2);
      // Induction.
      if (!rvalid && (held_q != 4'd0)) Hidden_A : assert (hidden_q <= 2'd1);
      if (!rvalid && !fetched[0]) HiddenRead_A : assert (hidden_q == 2'd0);
      Held_A : assert (held_q == usage + fetched + out_usage);
      Usage_A : assert (usage <= 4'(Depth));
      Room_A : assert (fetched + out_usage <= 4'd3);
      Read_A : assert (4'(\u_dut.read_q ) < 4'(Depth));
      Write_A : assert ((4'(\u_dut.read_q ) + usage) % 4'(Depth) == 4'(\u_dut.write_q ));
      OutRead_A : assert (\u_dut.u_out.read_q < 2'd3);
      OutWrite_A : assert ((4'(\u_dut.u_out.read_q ) + out_usage) % 4'd3 ==
                           4'(\u_dut.u_out.write_q ));
      if (fetched[0]) begin
        Fetched_A : assert (model_q[out_usage*Width +: Width] == \u_dut.u_ram.read_data_q );
      end
    end
  end

  for (genvar i = 0; i < Depth; i++) begin : gen_word
    logic [3:0] index, place;
    assign index = (4'(\u_dut.read_q ) + 4'(i)) % 4'(Depth);
    assign place = out_usage + fetched + 4'(i);
    always_comb begin
      if (started_q && (4'(i) < usage)) begin
        assert (memory[index*Width +: Width] == model_q[place*Width +: Width]);
      end
    end
  end

  for (genvar i = 0; i < 3; i++) begin : gen_out
    logic [3:0] index;
    assign index = (4'(\u_dut.u_out.read_q ) + 4'(i)) % 4'd3;
    always_comb begin
      if (started_q && (4'(i) < out_usage)) begin
        assert (behind[index*Width +: Width] == model_q[i*Width +: Width]);
      end
    end
  end

endmodule
