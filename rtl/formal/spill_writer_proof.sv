// A spilled tile is two runs: its weights, word by word with the first part first, and its entry;
// addresses, lengths and data are what was handed over, nothing is left over, and with a write port
// that takes something at least every second cycle something happens at least every fourth.
//
// The weight unit hands over one tile at a time: its words and its entry come after the start, in any
// order and with any gaps.

module spill_writer_proof #(
  parameter int PortBytes  = 1,
  parameter int WordBytes  = 2,
  parameter int TileWords  = 2,
  parameter int EntryBytes = 2
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic                              start_i,
  input logic [santa_pkg::AddressBits-1:0] address_i,
  input logic [santa_pkg::AddressBits-1:0] entry_address_i,
  input logic [1:0]                        tile_words_i,   // stash words of this tile
  input logic                              word_valid_i,
  input logic [8*WordBytes-1:0]            word_i,
  input logic                              entry_valid_i,
  input logic [8*EntryBytes-1:0]           entry_i,
  input logic                              run_ready_i,
  input logic                              data_ready_i
);

  localparam int Parts      = WordBytes / PortBytes;
  localparam int EntryParts = EntryBytes / PortBytes;

  logic                              ready, run_valid, data_valid;
  logic [santa_pkg::AddressBits-1:0] run_address;
  logic [15:0]                       words, run_words;
  logic [8*PortBytes-1:0]            data;

  assign words = 16'(tile_words_i) * 16'(Parts);

  spill_writer #(
    .PortBytes (PortBytes),
    .WordBytes (WordBytes),
    .TileWords (TileWords),
    .EntryBytes(EntryBytes)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .ready_o        (ready),
    .address_i,
    .words_i        (words),
    .entry_address_i,
    .word_valid_i,
    .word_i,
    .entry_valid_i,
    .entry_i,
    .run_valid_o    (run_valid),
    .run_ready_i,
    .run_address_o  (run_address),
    .run_words_o    (run_words),
    .data_valid_o   (data_valid),
    .data_ready_i,
    .data_o         (data)
  );

  // What the tile holds; words move down as their parts go out.
  logic                              busy_q, entry_q, first_run_q, second_run_q;
  logic [santa_pkg::AddressBits-1:0] address_q, entry_address_q;
  logic [15:0]                       words_q, left_q;
  logic [1:0]                        to_come_q;
  logic [3:0]                        held_q, held;      // parts
  logic [3:0]                        entry_left_q;      // parts
  logic [8*TileWords*WordBytes-1:0]  model_q, model;
  logic [8*EntryBytes-1:0]           entry_data_q;
  logic                              run, sent, in_entry;

  assign run      = run_valid && run_ready_i;
  assign sent     = data_valid && data_ready_i;
  assign in_entry = left_q == 16'd0;

  always_comb begin
    model = model_q;
    held  = held_q;
    if (sent && !in_entry) begin
      model = model >> (8 * PortBytes);
      held  = held - 4'd1;
    end
    if (word_valid_i) begin
      model[held*8*PortBytes +: 8*WordBytes] = word_i;
      held  = held + 4'(Parts);
    end
  end

  always_ff @(posedge clk_i) begin
    model_q <= model;
    if (!rst_ni) begin
      busy_q       <= 1'b0;
      held_q       <= 4'd0;
      to_come_q    <= 2'd0;
      entry_q      <= 1'b0;
      first_run_q  <= 1'b0;
      second_run_q <= 1'b0;
      left_q       <= 16'd0;
      entry_left_q <= 4'd0;
    end else begin
      held_q <= held;
      if (start_i) begin
        busy_q          <= 1'b1;
        address_q       <= address_i;
        entry_address_q <= entry_address_i;
        words_q         <= words;
        left_q          <= words;
        to_come_q       <= tile_words_i;
        entry_q         <= 1'b0;
        first_run_q     <= 1'b0;
        second_run_q    <= 1'b0;
        entry_left_q    <= 4'(EntryParts);
      end else begin
        if (word_valid_i) to_come_q <= to_come_q - 2'd1;
        if (run && !first_run_q) first_run_q <= 1'b1;
        if (run && first_run_q) second_run_q <= 1'b1;
        if (sent && !in_entry) left_q <= left_q - 16'd1;
        if (sent && in_entry) begin
          entry_left_q <= entry_left_q - 4'd1;
          if (entry_left_q == 4'd1) busy_q <= 1'b0;
        end
      end
      if (entry_valid_i) entry_q <= 1'b1;
    end
    if (entry_valid_i) entry_data_q <= entry_i;
    else if (sent && in_entry) entry_data_q <= entry_data_q >> (8 * PortBytes);
  end

  // The write port takes something at least every second cycle, and the weight unit hands over
  // something at least every second cycle.
  logic       refused_q, idle_q;
  logic [2:0] gap_q;  // cycles in which nothing happened

  always_ff @(posedge clk_i) begin
    refused_q <= rst_ni && ((run_valid && !run_ready_i) || (data_valid && !data_ready_i));
    idle_q    <= busy_q && ((to_come_q != 2'd0) || !entry_q) && !word_valid_i && !entry_valid_i;
    gap_q     <= (rst_ni && busy_q && !run && !sent && !word_valid_i && !entry_valid_i)
                 ? gap_q + 3'd1 : 3'd0;
  end

  (* hierconn *) wire [2:0]                         \u_dut.state_q ;
  (* hierconn *) wire [15:0]                        \u_dut.left_q ;
  (* hierconn *) wire [15:0]                        \u_dut.words_q ;
  (* hierconn *) wire                               \u_dut.part_q ;
  (* hierconn *) wire                               \u_dut.entry_part_q ;
  (* hierconn *) wire                               \u_dut.entry_held_q ;
  (* hierconn *) wire [8*EntryBytes-1:0]            \u_dut.entry_q ;
  (* hierconn *) wire [santa_pkg::AddressBits-1:0]  \u_dut.address_q ;
  (* hierconn *) wire [santa_pkg::AddressBits-1:0]  \u_dut.entry_address_q ;
  (* hierconn *) wire [1:0]                         \u_dut.u_words.usage_q ;
  (* hierconn *) wire [8*TileWords*WordBytes-1:0]   \u_dut.u_words.words_q ;
  (* hierconn *) wire [1:0]                         \u_dut.u_words.hidden_q ;

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    assume (!start_i || (ready && !busy_q && (tile_words_i != 2'd0) &&
                         (tile_words_i <= 2'(TileWords))));
    assume (!word_valid_i || (busy_q && (to_come_q != 2'd0)));
    assume (!entry_valid_i || (busy_q && !entry_q));
    assume (!started_q || !refused_q || ((run_ready_i || !run_valid) &&
                                         (data_ready_i || !data_valid)));
    assume (!started_q || !idle_q || word_valid_i || entry_valid_i || !busy_q);
    if (started_q) begin
      Ready_A : assert (ready == !busy_q);
      if (run_valid) begin
        RunOfTile_A : assert (busy_q && !second_run_q && (!first_run_q || (in_entry && entry_q)));
        RunAddress_A : assert (run_address == (first_run_q ? entry_address_q : address_q));
        RunWords_A : assert (run_words == (first_run_q ? 16'(EntryParts) : words_q));
      end
      if (data_valid) begin
        DataOfRun_A : assert (busy_q && (in_entry ? second_run_q : first_run_q));
        if (in_entry) EntryData_A : assert (data == entry_data_q[8*PortBytes-1:0]);
        else Data_A : assert ((held_q != 4'd0) && (data == model_q[8*PortBytes-1:0]));
      end
      // Nothing stuck.
      Moves_A : assert (gap_q <= 3'd3);

      // Induction, for two parts a word and two an entry.
      State_A : assert (\u_dut.state_q == (!busy_q ? 3'd0 : !first_run_q ? 3'd1 :
                                           !in_entry ? 3'd2 : !second_run_q ? 3'd3 : 3'd4));
      Held_A : assert (4'(\u_dut.u_words.usage_q ) * 4'd2 ==
                       held_q + ((busy_q && \u_dut.part_q ) ? 4'd1 : 4'd0));
      HeldRange_A : assert ((\u_dut.u_words.usage_q <= 2'(TileWords)) &&
                            (\u_dut.u_words.hidden_q <= 2'd2));
      if (!busy_q) Empty_A : assert ((held_q == 4'd0) && (to_come_q == 2'd0));
      if (busy_q) begin
        Left_A : assert ((left_q == \u_dut.left_q ) || in_entry);
        Words_A : assert ((words_q == \u_dut.words_q ) && (address_q == \u_dut.address_q ) &&
                          (entry_address_q == \u_dut.entry_address_q ));
        Runs_A : assert ((first_run_q || (left_q == words_q)) && (in_entry || !second_run_q));
        InEntry_A : assert (!in_entry || first_run_q);
        NotEmpty_A : assert (words_q != 16'd0);
        Range_A : assert ((words_q <= 16'(TileWords * Parts)) && !words_q[0] &&
                          (left_q <= words_q));
        Part_A : assert (\u_dut.part_q == left_q[0]);
        AllParts_A : assert (16'(held_q) + 16'(to_come_q) * 16'd2 == left_q);
        Entry_A : assert ((entry_q == \u_dut.entry_held_q ) && (!second_run_q || entry_q));
        EntryLeft_A : assert ((entry_left_q == 4'd2) ||
                              (second_run_q && (entry_left_q == 4'd1)));
        EntryPart_A : assert (!second_run_q || (\u_dut.entry_part_q == (entry_left_q == 4'd1)));
        EntryStart_A : assert (second_run_q || !\u_dut.entry_part_q );
        if (entry_q) begin
          EntryWord_A : assert ((entry_left_q == 4'd2) ? (entry_data_q == \u_dut.entry_q )
                                : (entry_data_q[7:0] == \u_dut.entry_q [15:8]));
        end
      end
    end
  end

  // Parts that are held are those of the list, less the one that is out.
  for (genvar i = 0; i < TileWords * Parts; i++) begin : gen_part
    logic [3:0] place;
    assign place = 4'(i) + 4'(\u_dut.part_q );
    always_comb begin
      if (started_q && (4'(i) < held_q)) begin
        assert (model_q[i*8 +: 8] == \u_dut.u_words.words_q [place*8 +: 8]);
      end
    end
  end

endmodule
