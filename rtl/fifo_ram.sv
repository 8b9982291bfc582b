// Deep FIFO on a memory with registered reads: a word a cycle in and out, three cycles through.
// Three words wait in flip-flops behind the memory, so the read side needs no path from rready_i
// to the memory's address.

module fifo_ram #(
  parameter int Width = 8,
  parameter int Depth = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             wvalid_i,
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o
);

  localparam int PointerBits = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int UsageBits   = $clog2(Depth + 1);

  logic [PointerBits-1:0] write_q, read_q;
  logic [UsageBits-1:0]   usage_q;
  logic                   push, fetch, fetched_q;
  logic [Width-1:0]       fetched_data;
  logic [1:0]             out_usage;
  /* verilator lint_off UNUSEDSIGNAL */  // room is counted below, before the word is fetched
  logic                   out_ready;
  /* verilator lint_on UNUSEDSIGNAL */

  assign wready_o = usage_q != UsageBits'(Depth);
  assign push     = wvalid_i && wready_o;
  assign fetch    = (usage_q != '0) && ({1'b0, out_usage} + {2'b00, fetched_q} < 3'd3);

  function automatic logic [PointerBits-1:0] next(input logic [PointerBits-1:0] pointer);
    next = (pointer == PointerBits'(Depth - 1)) ? '0 : pointer + PointerBits'(1);
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q   <= '0;
      read_q    <= '0;
      usage_q   <= '0;
      fetched_q <= 1'b0;
    end else begin
      fetched_q <= fetch;
      if (push) write_q <= next(write_q);
      if (fetch) read_q <= next(read_q);
      if (push && !fetch) usage_q <= usage_q + UsageBits'(1);
      if (fetch && !push) usage_q <= usage_q - UsageBits'(1);
    end
  end

  ram_1r1w #(
    .Width(Width),
    .Depth(Depth)
  ) u_ram (
    .clk_i,
    .write_i      (push),
    .write_index_i(write_q),
    .write_data_i (wdata_i),
    .read_i       (fetch),
    .read_index_i (read_q),
    .read_data_o  (fetched_data)
  );

  fifo_sync #(
    .Width(Width),
    .Depth(3)
  ) u_out (
    .clk_i,
    .rst_ni,
    .wvalid_i(fetched_q),
    .wready_o(out_ready),
    .wdata_i (fetched_data),
    .rvalid_o,
    .rready_i,
    .rdata_o,
    .usage_o (out_usage)
  );

`ifndef SYNTHESIS
  UsageInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) usage_q <= UsageBits'(Depth));
  FetchedWordFits_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) fetched_q |-> out_ready);
`endif

endmodule
