// In place of ram_1r1w in proofs in which data do not matter: a read gives anything.

module ram_1r1w #(
  parameter int Width = 8,
  parameter int Depth = 16,
  localparam int IndexBits = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 clk_i,
  input  logic                 write_i,
  input  logic [IndexBits-1:0] write_index_i,
  input  logic [Width-1:0]     write_data_i,
  input  logic                 read_i,
  input  logic [IndexBits-1:0] read_index_i,
  output logic [Width-1:0]     read_data_o
);

  (* anyseq *) logic [Width-1:0] anything;
  logic [Width-1:0]              read_data_q;

  always_ff @(posedge clk_i) begin
    if (read_i) read_data_q <= anything;
  end

  assign read_data_o = read_data_q;

endmodule
