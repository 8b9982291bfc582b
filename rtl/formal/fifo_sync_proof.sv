// fifo_sync against a shift register: never more than Depth words, never one from nothing, and every
// word comes out once, in order, unchanged. The last assertions tie the registers to the model, which
// makes the property inductive.

module fifo_sync_proof #(
  parameter int Width = 4,
  parameter int Depth = 4,  // at most 4
  localparam int UsageBits   = $clog2(Depth + 1),
  localparam int PointerBits = (Depth > 1) ? $clog2(Depth) : 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             wvalid_i,
  input logic [Width-1:0] wdata_i,
  input logic             rready_i
);

  logic                 wready, rvalid;
  logic [Width-1:0]     rdata;
  logic [UsageBits-1:0] usage;

  fifo_sync #(
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
    .rdata_o (rdata),
    .usage_o (usage)
  );

  // Registers of the module, by their names after flattening.
  (* hierconn *) wire [PointerBits-1:0] \u_dut.read_q ;
  (* hierconn *) wire [PointerBits-1:0] \u_dut.write_q ;
  (* hierconn *) wire [Width-1:0]       \u_dut.mem_q[0] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.mem_q[1] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.mem_q[2] ;
  (* hierconn *) wire [Width-1:0]       \u_dut.mem_q[3] ;
  logic [4*Width-1:0] memory;
  assign memory = {\u_dut.mem_q[3] , \u_dut.mem_q[2] , \u_dut.mem_q[1] , \u_dut.mem_q[0] };

  logic [4*Width-1:0] model_q, model;  // oldest word in the low bits
  logic [2:0]         held_q, held;

  always_comb begin
    model = model_q;
    held  = held_q;
    if (rvalid && rready_i) begin
      model = model >> Width;
      held  = held - 3'd1;
    end
    if (wvalid_i && wready) begin
      model[held*Width +: Width] = wdata_i;
      held  = held + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 3'd0;
    else held_q <= held;
    model_q <= model;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    if (started_q) begin
      NoOverflow_A : assert (held_q <= 3'(Depth));
      Usage_A : assert (usage == UsageBits'(held_q));
      WriteReady_A : assert (wready == (held_q < 3'(Depth)));
      ReadValid_A : assert (rvalid == (held_q != 3'd0));
      if (rvalid) Data_A : assert (rdata == model_q[Width-1:0]);
      // Induction.
      Read_A : assert (4'(\u_dut.read_q ) < 4'(Depth));
      Write_A : assert ((4'(\u_dut.read_q ) + 4'(held_q)) % 4'(Depth) == 4'(\u_dut.write_q ));
    end
  end

  for (genvar i = 0; i < Depth; i++) begin : gen_word
    logic [3:0] index;
    assign index = (4'(\u_dut.read_q ) + 4'(i)) % 4'(Depth);
    always_comb begin
      if (started_q && (3'(i) < held_q)) begin
        assert (memory[index*Width +: Width] == model_q[i*Width +: Width]);
      end
    end
  end

endmodule
