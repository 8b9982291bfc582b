// AXI4-Lite registers: identity, submission of descriptors, completions, interrupt and counters.
// The map is docs/registers.md; its numbers come from santa_registers_pkg, which is generated.
//
// Each channel has one register. A write takes effect once its address and its data are both there,
// in whatever order they came, and the response register is free; a read answers in the cycle after
// its address. No output depends on an AXI input in the same cycle.

module control_registers #(
  parameter logic [63:0] ConfigHash       = 64'd0,
  parameter int          GroupHeads       = 8,
  parameter int          MaxHeadDimension = 128,
  parameter int          TileKeys         = 256,
  parameter int          PortBytes        = 64,
  localparam int         NumCounters      = santa_registers_pkg::NumCounters
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [11:0]            s_axil_awaddr_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  input  logic [31:0]            s_axil_wdata_i,
  input  logic [3:0]             s_axil_wstrb_i,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  output logic [1:0]             s_axil_bresp_o,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  input  logic [11:0]            s_axil_araddr_i,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
  output logic [31:0]            s_axil_rdata_o,
  output logic [1:0]             s_axil_rresp_o,

  output logic                   enable_o,
  output logic                   submit_valid_o,      // one cycle, only with a free slot
  output logic [63:0]            submit_address_o,
  input  logic [3:0]             free_slots_i,
  input  logic                   busy_i,
  input  logic                   completion_valid_i,  // front of the completion FIFO
  input  logic [31:0]            completion_tag_i,
  input  logic [2:0]             completion_status_i,
  output logic                   completion_pop_o,
  input  logic                   completion_event_i,  // a completion arrives
  input  logic                   completion_error_i,  // its code is not 0
  input  logic [NumCounters-1:0] counter_event_i,
  output logic                   irq_o
);

  localparam logic [1:0] RespOkay   = 2'b00;
  localparam logic [1:0] RespSlverr = 2'b10;
  localparam int IndexBits = $clog2(NumCounters);

  // Addresses are those of words: bits 1:0 are ignored.
  localparam logic [9:0] FirstCounterWord = santa_registers_pkg::CountersOffset[11:2];

  logic unused_address_bits;
  assign unused_address_bits = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]};

  // 0 in the cycle after a reset and 1 from then on: nothing is accepted during the reset.
  logic active_q;

  always_ff @(posedge clk_i) begin
    active_q <= rst_ni;
  end

  // ---------------------------------------------------------------------------------------------
  // Writes
  // ---------------------------------------------------------------------------------------------
  logic        aw_held_q, w_held_q;
  logic [9:0]  aw_word_q;
  logic [31:0] w_data_q;
  logic [3:0]  w_strobe_q;
  logic        bvalid_q;
  logic [1:0]  bresp_q;

  logic        write;         // the write in the registers takes effect
  logic        write_error;   // it is refused
  logic [31:0] write_mask;    // bits of its strobes
  logic [31:0] write_bits;    // data, 0 where no strobe is set
  logic        write_any;     // some strobe is set

  assign s_axil_awready_o = active_q && !aw_held_q;
  assign s_axil_wready_o  = active_q && !w_held_q;
  assign s_axil_bvalid_o  = bvalid_q;
  assign s_axil_bresp_o   = bresp_q;

  assign write      = aw_held_q && w_held_q && !bvalid_q;
  assign write_mask = {{8{w_strobe_q[3]}}, {8{w_strobe_q[2]}}, {8{w_strobe_q[1]}},
                       {8{w_strobe_q[0]}}};
  assign write_bits = w_data_q & write_mask;
  assign write_any  = w_strobe_q != 4'd0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q  <= 1'b0;
      bvalid_q  <= 1'b0;
    end else begin
      if (write) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
      end else begin
        if (s_axil_awvalid_i && s_axil_awready_o) aw_held_q <= 1'b1;
        if (s_axil_wvalid_i && s_axil_wready_o) w_held_q <= 1'b1;
      end
      if (write) begin
        bvalid_q <= 1'b1;
      end else if (s_axil_bready_i) begin
        bvalid_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axil_awvalid_i && s_axil_awready_o) aw_word_q <= s_axil_awaddr_i[11:2];
    if (s_axil_wvalid_i && s_axil_wready_o) begin
      w_data_q   <= s_axil_wdata_i;
      w_strobe_q <= s_axil_wstrb_i;
    end
    if (write) bresp_q <= write_error ? RespSlverr : RespOkay;
  end

  // Which register is written; commands need a strobe and what they act on.
  logic write_control, write_submit_lo, write_interrupt_state, write_interrupt_enable;
  logic submit, pop, interrupt_test, counter_clear;

  always_comb begin
    write_control          = 1'b0;
    write_submit_lo        = 1'b0;
    write_interrupt_state  = 1'b0;
    write_interrupt_enable = 1'b0;
    submit                 = 1'b0;
    pop                    = 1'b0;
    interrupt_test         = 1'b0;
    counter_clear          = 1'b0;
    write_error            = 1'b0;
    case ({aw_word_q, 2'b00})
      santa_registers_pkg::ControlOffset:         write_control          = write;
      santa_registers_pkg::SubmitLoOffset:        write_submit_lo        = write;
      santa_registers_pkg::SubmitHiOffset: begin
        submit      = write && write_any && (free_slots_i != 4'd0);
        write_error = write_any && (free_slots_i == 4'd0);
      end
      santa_registers_pkg::CompletionPopOffset: begin
        pop         = write && write_any && completion_valid_i;
        write_error = write_any && !completion_valid_i;
      end
      santa_registers_pkg::InterruptStateOffset:  write_interrupt_state  = write;
      santa_registers_pkg::InterruptEnableOffset: write_interrupt_enable = write;
      santa_registers_pkg::InterruptTestOffset:   interrupt_test         = write;
      santa_registers_pkg::CounterClearOffset:    counter_clear          = write && write_any;
      default:                                    write_error            = 1'b1;
    endcase
  end

  // ---------------------------------------------------------------------------------------------
  // Registers
  // ---------------------------------------------------------------------------------------------
  logic        enable_q;
  logic [31:0] submit_lo_q;
  logic [1:0]  interrupt_state_q, interrupt_state_d;  // completion, error
  logic [1:0]  interrupt_enable_q;
  logic [1:0]  interrupt_set;

  assign enable_o         = enable_q;
  assign submit_valid_o   = submit;
  assign submit_address_o = {write_bits, submit_lo_q};
  assign completion_pop_o = pop;
  assign irq_o            = (interrupt_state_q & interrupt_enable_q) != 2'd0;

  // An event wins over its clearing.
  assign interrupt_set = {completion_error_i, completion_event_i} |
                         (interrupt_test ? write_bits[1:0] : 2'd0);
  assign interrupt_state_d = (interrupt_state_q &
                              ~(write_interrupt_state ? write_bits[1:0] : 2'd0)) | interrupt_set;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enable_q           <= santa_registers_pkg::ControlReset[0];
      submit_lo_q        <= santa_registers_pkg::SubmitLoReset;
      interrupt_state_q  <= santa_registers_pkg::InterruptStateReset[1:0];
      interrupt_enable_q <= santa_registers_pkg::InterruptEnableReset[1:0];
    end else begin
      if (write_control && w_strobe_q[0]) enable_q <= w_data_q[0];
      if (write_submit_lo) submit_lo_q <= (submit_lo_q & ~write_mask) | write_bits;
      if (write_interrupt_enable && w_strobe_q[0]) interrupt_enable_q <= w_data_q[1:0];
      interrupt_state_q <= interrupt_state_d;
    end
  end

  // ---------------------------------------------------------------------------------------------
  // Counters
  // ---------------------------------------------------------------------------------------------
  logic [NumCounters*64-1:0] counts;

  for (genvar c = 0; c < NumCounters; c++) begin : gen_counters
    logic [63:0] count_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni || counter_clear) begin
        count_q <= 64'd0;
      end else if (counter_event_i[c]) begin
        count_q <= count_q + 64'd1;
      end
    end

    assign counts[64*c+:64] = count_q;
  end

  // ---------------------------------------------------------------------------------------------
  // Reads
  // ---------------------------------------------------------------------------------------------
  logic                 read;
  logic                 read_counter;   // the address is a counter's
  logic [9:0]           counter_word;
  logic [IndexBits-1:0] counter_index;
  logic [63:0]          count;
  logic [31:0]          read_data;
  logic                 read_error;
  logic                 rvalid_q;
  logic [31:0]          rdata_q;
  logic [1:0]           rresp_q;
  logic [31:0]          count_hi_q;     // upper half when a lower half was read last

  assign s_axil_arready_o = active_q && !rvalid_q;
  assign s_axil_rvalid_o  = rvalid_q;
  assign s_axil_rdata_o   = rdata_q;
  assign s_axil_rresp_o   = rresp_q;

  assign read          = s_axil_arvalid_i && s_axil_arready_o;
  assign counter_word  = s_axil_araddr_i[11:2] - FirstCounterWord;
  assign read_counter  = (s_axil_araddr_i[11:2] >= FirstCounterWord) &&
                         (counter_word < 10'(2 * NumCounters));
  assign counter_index = read_counter ? counter_word[IndexBits:1] : '0;
  assign count         = counts[{counter_index, 6'd0}+:64];

  always_comb begin
    read_data  = 32'd0;
    read_error = 1'b0;
    case ({s_axil_araddr_i[11:2], 2'b00})
      santa_registers_pkg::IdOffset:               read_data = santa_registers_pkg::IdReset;
      santa_registers_pkg::VersionOffset:          read_data = santa_registers_pkg::VersionReset;
      santa_registers_pkg::ConfigHashLoOffset:     read_data = ConfigHash[31:0];
      santa_registers_pkg::ConfigHashHiOffset:     read_data = ConfigHash[63:32];
      santa_registers_pkg::GroupHeadsOffset:       read_data = 32'(GroupHeads);
      santa_registers_pkg::MaxHeadDimensionOffset: read_data = 32'(MaxHeadDimension);
      santa_registers_pkg::TileKeysOffset:         read_data = 32'(TileKeys);
      santa_registers_pkg::PortBytesOffset:        read_data = 32'(PortBytes);
      santa_registers_pkg::ControlOffset:          read_data = {31'd0, enable_q};
      santa_registers_pkg::StatusOffset: begin
        read_data[santa_registers_pkg::StatusBusyLsb] = busy_i;
        read_data[santa_registers_pkg::StatusFreeSlotsLsb+:santa_registers_pkg::StatusFreeSlotsBits]
            = free_slots_i;
      end
      santa_registers_pkg::SubmitLoOffset:         read_data = submit_lo_q;
      santa_registers_pkg::CompletionStatusOffset: begin
        read_data[santa_registers_pkg::CompletionStatusValidLsb] = completion_valid_i;
        if (completion_valid_i) begin
          read_data[santa_registers_pkg::CompletionStatusCodeLsb
                    +:santa_registers_pkg::CompletionStatusCodeBits] = completion_status_i;
        end
      end
      santa_registers_pkg::CompletionTagOffset: begin
        if (completion_valid_i) read_data = completion_tag_i;
      end
      santa_registers_pkg::InterruptStateOffset:   read_data = {30'd0, interrupt_state_q};
      santa_registers_pkg::InterruptEnableOffset:  read_data = {30'd0, interrupt_enable_q};
      default: begin
        if (read_counter) begin
          read_data = counter_word[0] ? count_hi_q : count[31:0];
        end else begin
          read_error = 1'b1;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rvalid_q   <= 1'b0;
      count_hi_q <= 32'd0;
    end else begin
      if (read) begin
        rvalid_q <= 1'b1;
      end else if (s_axil_rready_i) begin
        rvalid_q <= 1'b0;
      end
      if (read && read_counter && !counter_word[0]) count_hi_q <= count[63:32];
    end
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      rdata_q <= read_data;
      rresp_q <= read_error ? RespSlverr : RespOkay;
    end
  end

`ifndef SYNTHESIS
  BvalidStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (s_axil_bvalid_o && !s_axil_bready_i) |=> (s_axil_bvalid_o && $stable(s_axil_bresp_o)));
  RvalidStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (s_axil_rvalid_o && !s_axil_rready_i)
    |=> (s_axil_rvalid_o && $stable(s_axil_rdata_o) && $stable(s_axil_rresp_o)));
  ResponseNeedsAddressAndData_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) $rose(s_axil_bvalid_o) |-> $past(aw_held_q && w_held_q));
  SubmitNeedsSlot_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) submit_valid_o |-> (free_slots_i != 4'd0));
  SubmitIsOneCycle_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) submit_valid_o |=> !submit_valid_o);
  PopNeedsCompletion_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) completion_pop_o |-> completion_valid_i);
  PopIsOneCycle_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) completion_pop_o |=> !completion_pop_o);
`endif

endmodule
