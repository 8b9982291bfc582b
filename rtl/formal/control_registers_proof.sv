// Register port: every write whose address and data came is answered once and within two cycles if
// the answer before it was collected, every read in the next cycle; answers are stable until
// collected and none comes unasked. Commands last a cycle and are never given without what they act
// on. An event is never lost from INTERRUPT_STATE.

module control_registers_proof (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        awvalid_i,
  input logic [11:0] awaddr_i,
  input logic        wvalid_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i,
  input logic        bready_i,
  input logic        arvalid_i,
  input logic [11:0] araddr_i,
  input logic        rready_i,
  input logic [3:0]  free_slots_i,
  input logic        busy_i,
  input logic        completion_valid_i,
  input logic [31:0] completion_tag_i,
  input logic [2:0]  completion_status_i,
  input logic        completion_event_i,
  input logic        completion_error_i,
  input logic [santa_registers_pkg::NumCounters-1:0] counter_event_i
);

  logic        awready, wready, bvalid, arready, rvalid, enable, submit_valid, pop, irq;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata;
  logic [63:0] submit_address;

  control_registers u_dut (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i(awvalid_i),
    .s_axil_awready_o(awready),
    .s_axil_awaddr_i (awaddr_i),
    .s_axil_wvalid_i (wvalid_i),
    .s_axil_wready_o (wready),
    .s_axil_wdata_i  (wdata_i),
    .s_axil_wstrb_i  (wstrb_i),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (bready_i),
    .s_axil_bresp_o  (bresp),
    .s_axil_arvalid_i(arvalid_i),
    .s_axil_arready_o(arready),
    .s_axil_araddr_i (araddr_i),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (rready_i),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .enable_o           (enable),
    .submit_valid_o     (submit_valid),
    .submit_address_o   (submit_address),
    .free_slots_i,
    .busy_i,
    .completion_valid_i,
    .completion_tag_i,
    .completion_status_i,
    .completion_pop_o   (pop),
    .completion_event_i,
    .completion_error_i,
    .counter_event_i,
    .irq_o              (irq)
  );

  (* hierconn *) wire       \u_dut.active_q ;
  (* hierconn *) wire       \u_dut.aw_held_q ;
  (* hierconn *) wire       \u_dut.w_held_q ;
  (* hierconn *) wire [1:0] \u_dut.interrupt_state_q ;

  // Addresses and data without an answer that was collected: at most one beyond the answer shown.
  logic [1:0] addresses_q, words_q, writes_waiting;
  logic       reads_q, answered, read_answered;
  logic [1:0] late_q;  // cycles in which a whole write waited and no answer was shown

  assign answered       = bvalid && bready_i;
  assign read_answered  = rvalid && rready_i;
  assign writes_waiting = (addresses_q < words_q) ? addresses_q : words_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      addresses_q <= 2'd0;
      words_q     <= 2'd0;
      reads_q     <= 1'b0;
      late_q      <= 2'd0;
    end else begin
      addresses_q <= addresses_q + 2'(awvalid_i && awready) - 2'(answered);
      words_q     <= words_q + 2'(wvalid_i && wready) - 2'(answered);
      reads_q     <= (arvalid_i && arready) || (reads_q && !read_answered);
      late_q      <= ((writes_waiting != 2'd0) && !bvalid) ? late_q + 2'd1 : 2'd0;
    end
  end

  logic        b_waited_q, r_waited_q, submit_q, pop_q, event_q, error_event_q;
  logic [1:0]  bresp_q, rresp_q;
  logic [31:0] rdata_q;

  always_ff @(posedge clk_i) begin
    b_waited_q    <= rst_ni && bvalid && !bready_i;
    r_waited_q    <= rst_ni && rvalid && !rready_i;
    bresp_q       <= bresp;
    rresp_q       <= rresp;
    rdata_q       <= rdata;
    submit_q      <= rst_ni && submit_valid;
    pop_q         <= rst_ni && pop;
    event_q       <= rst_ni && completion_event_i;
    error_event_q <= rst_ni && completion_error_i;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    if (started_q) begin
      // Nothing stuck, nothing unasked.
      WriteAnswered_A : assert (late_q <= 2'd1);
      WriteAsked_A : assert (!bvalid || (writes_waiting != 2'd0));
      ReadAnswered_A : assert (rvalid == reads_q);
      AddressReady_A : assert (awready || !\u_dut.active_q || (addresses_q != 2'd0));
      WordReady_A : assert (wready || !\u_dut.active_q || (words_q != 2'd0));
      ReadReady_A : assert (arready || !\u_dut.active_q || rvalid);
      if (b_waited_q) BStable_A : assert (bvalid && (bresp == bresp_q));
      if (r_waited_q) RStable_A : assert (rvalid && (rdata == rdata_q) && (rresp == rresp_q));
      // Commands.
      SubmitSlot_A : assert (!submit_valid || (free_slots_i != 4'd0));
      SubmitOnce_A : assert (!(submit_valid && submit_q));
      PopHeld_A : assert (!pop || completion_valid_i);
      PopOnce_A : assert (!(pop && pop_q));
      // Interrupts.
      Event_A : assert (!event_q || \u_dut.interrupt_state_q [0]);
      Error_A : assert (!error_event_q || \u_dut.interrupt_state_q [1]);
      // Induction.
      Addresses_A : assert (addresses_q == 2'(\u_dut.aw_held_q ) + 2'(bvalid));
      Words_A : assert (words_q == 2'(\u_dut.w_held_q ) + 2'(bvalid));
    end
  end

endmodule
