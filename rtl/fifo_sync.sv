// FIFO of flip-flops with valid and ready on both sides; a word is visible one cycle after it was
// written. Writing to a full FIFO and reading from an empty one have no effect.

module fifo_sync #(
  parameter int Width = 8,
  parameter int Depth = 2,
  localparam int UsageBits = $clog2(Depth + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 wvalid_i,
  output logic                 wready_o,
  input  logic [Width-1:0]     wdata_i,
  output logic                 rvalid_o,
  input  logic                 rready_i,
  output logic [Width-1:0]     rdata_o,
  output logic [UsageBits-1:0] usage_o   // words held
);

  localparam int PointerBits = (Depth > 1) ? $clog2(Depth) : 1;

  logic [Width-1:0]       mem_q [Depth];
  logic [PointerBits-1:0] write_q, read_q;
  logic [UsageBits-1:0]   usage_q;
  logic                   push, pop;

  assign wready_o = usage_q != UsageBits'(Depth);
  assign rvalid_o = usage_q != '0;
  assign rdata_o  = mem_q[read_q];
  assign usage_o  = usage_q;
  assign push     = wvalid_i && wready_o;
  assign pop      = rvalid_o && rready_i;

  function automatic logic [PointerBits-1:0] next(input logic [PointerBits-1:0] pointer);
    next = (pointer == PointerBits'(Depth - 1)) ? '0 : pointer + PointerBits'(1);
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      usage_q <= '0;
    end else begin
      if (push) write_q <= next(write_q);
      if (pop) read_q <= next(read_q);
      if (push && !pop) usage_q <= usage_q + UsageBits'(1);
      if (pop && !push) usage_q <= usage_q - UsageBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem_q[write_q] <= wdata_i;
  end

`ifndef SYNTHESIS
  UsageInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) usage_q <= UsageBits'(Depth));
  ReadDataStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (rvalid_o && !rready_i) |=> (rvalid_o && $stable(rdata_o)));
`endif

endmodule
