// Memory with one write and one read port; read data comes one cycle after the address. Reading a
// word in the cycle in which it is written gives the old word. Stands for an SRAM macro: synthesis
// leaves it out of the area.

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
  output logic [Width-1:0]     read_data_o   // holds its value until the next read
);

  logic [Width-1:0] mem_q [Depth];
  logic [Width-1:0] read_data_q;

  always_ff @(posedge clk_i) begin
    if (write_i) mem_q[write_index_i] <= write_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (read_i) read_data_q <= mem_q[read_index_i];
  end

  assign read_data_o = read_data_q;

endmodule
