// In place of fifo_ram in proofs of what lies around it: a list whose oldest word appears after up to
// two cycles, any number of them. fifo_ram_proof shows that fifo_ram is one of these, with room for
// at least Depth words.

module fifo_ram #(
  parameter int Width = 8,
  parameter int Depth = 2,
  localparam int UsageBits = $clog2(Depth + 1)
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

  (* anyseq *) logic      show;
  logic [Depth*Width-1:0] words_q, words;  // oldest in the low bits
  logic [UsageBits-1:0]   usage_q, usage;
  logic                   shown_q;
  logic [1:0]             hidden_q;

  assign wready_o = usage_q != UsageBits'(Depth);
  assign rvalid_o = (usage_q != '0) && (shown_q || show || (hidden_q == 2'd2));
  assign rdata_o  = words_q[Width-1:0];

  always_comb begin
    words = words_q;
    usage = usage_q;
    if (rvalid_o && rready_i) begin
      words = words >> Width;
      usage = usage - UsageBits'(1);
    end
    if (wvalid_i && wready_o) begin
      words[usage*Width +: Width] = wdata_i;
      usage = usage + UsageBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    words_q <= words;
    if (!rst_ni) begin
      usage_q  <= '0;
      shown_q  <= 1'b0;
      hidden_q <= 2'd0;
    end else begin
      usage_q  <= usage;
      shown_q  <= rvalid_o && !rready_i;
      hidden_q <= ((usage_q != '0) && !rvalid_o) ? hidden_q + 2'd1 : 2'd0;
    end
  end

endmodule
