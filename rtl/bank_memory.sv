// Memory of several banks that share their addresses and are written one by one: the weight stash
// and the tile statistics, a bank a query head.

module bank_memory #(
  parameter int Banks = 8,
  parameter int Width = 16,
  parameter int Depth = 16,
  localparam int IndexBits = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                   clk_i,
  input  logic [Banks-1:0]       write_i,
  input  logic [IndexBits-1:0]   write_index_i,
  input  logic [Banks*Width-1:0] write_data_i,
  input  logic                   read_i,
  input  logic [IndexBits-1:0]   read_index_i,
  output logic [Banks*Width-1:0] read_data_o    // one cycle later
);

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    ram_1r1w #(
      .Width(Width),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .write_i      (write_i[b]),
      .write_index_i(write_index_i),
      .write_data_i (write_data_i[b*Width +: Width]),
      .read_i       (read_i),
      .read_index_i (read_index_i),
      .read_data_o  (read_data_o[b*Width +: Width])
    );
  end

endmodule
