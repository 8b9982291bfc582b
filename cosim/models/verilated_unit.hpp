// A verilated unit as an RtlModel. Only the generated source of each model includes this file:
// Verilator's headers stay out of the rest.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#ifdef SANTA_RTL_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>
#endif

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "santa/cosim/rtl_model.hpp"
#include "santa/error.hpp"
#include "santa/rtl/failures.hpp"

namespace santa::cosim {

// The failures of every model of the process go to the harness.
inline void record_failures_of_models() {
  rtl::set_failure_handler([](const rtl::SimulationFailure& failure) {
    record_rtl_failure({failure.file, failure.line, failure.message});
  });
}

template <typename VTop>
class VerilatedUnit : public RtlModel {
 public:
  VerilatedUnit(const UnitParameters& parameters, const ModelOptions& options)
      : RtlModel(parameters) {
    record_failures_of_models();
    constexpr int kAllZero = 0;
    [[maybe_unused]] constexpr int kRandom = 2;
#ifdef SANTA_RTL_COVERAGE
    // A random bit that settles would count as one that has toggled.
    context_.randReset(kAllZero);
#else
    context_.randReset(options.initial_seed == 0 ? kAllZero : kRandom);
#endif
    context_.randSeed(static_cast<int>(options.initial_seed & 0x7FFFFFFF));
    context_.traceEverOn(true);
    top_ = std::make_unique<VTop>(&context_, "unit");
#ifdef SANTA_RTL_COVERAGE
    top_->eval();
    write_coverage("start");
#endif
  }
  ~VerilatedUnit() override {
    VerilatedUnit::close_waves();
    top_->final();
#ifdef SANTA_RTL_COVERAGE
    write_coverage(std::to_string(getpid()) + "-" + std::to_string(models_written()++));
#endif
  }

  void eval() override {
    top_->clk_i = 0;
    drive();
    top_->eval();
    dump();
    observe();
    watch();
  }
  void tick() override {
    top_->clk_i = 1;
    top_->eval();
    dump();
  }
  void open_waves(const std::string& path) override {
    close_waves();
    waves_ = std::make_unique<VerilatedFstC>();
    top_->trace(waves_.get(), kAllLevels);
    waves_->open(path.c_str());
    if (!waves_->isOpen()) throw input_error(path, "", "cannot be opened", "a new file");
  }
  void close_waves() override {
    if (waves_ != nullptr) waves_->close();
    waves_.reset();
  }

 private:
  static constexpr int kAllLevels = 99;
  static constexpr std::uint64_t kHalfCycle = 5;  // units of the waveform's time

  // Ports of up to 64 bits are unsigned integers, wider ones arrays of 32-bit words: in both the
  // bytes lie in memory from the lowest on.
  template <typename Port>
  static void set_bytes(Port& port, const void* bytes, std::size_t count) {
    std::memcpy(&port, bytes, count < sizeof(Port) ? count : sizeof(Port));
  }
  template <typename Port>
  static void get_bytes(const Port& port, void* bytes, std::size_t count) {
    std::memcpy(bytes, &port, count < sizeof(Port) ? count : sizeof(Port));
  }
  template <typename Port, typename T>
  static void get(const Port& port, std::vector<T>& values) {
    get_bytes(port, values.data(), values.size() * sizeof(T));
  }
  template <typename Port, typename T>
  static void set(Port& port, T value) {
    port = static_cast<std::remove_reference_t<Port>>(value);
  }

  void drive() {
    VTop& t = *top_;
    const AxiToUnit& axi = inputs_.axi;
    set(t.rst_ni, inputs_.rst_n);
    set(t.m_axi_arready_i, axi.arready);
    set(t.m_axi_awready_i, axi.awready);
    set(t.m_axi_wready_i, axi.wready);
    set(t.m_axi_rvalid_i, axi.rvalid);
    set(t.m_axi_rlast_i, axi.rlast);
    set(t.m_axi_rid_i, axi.rid);
    set(t.m_axi_rresp_i, axi.rresp);
    set_bytes(t.m_axi_rdata_i, axi.rdata.data(), parameters_.port_bytes);
    set(t.m_axi_bvalid_i, axi.bvalid);
    set(t.m_axi_bid_i, axi.bid);
    set(t.m_axi_bresp_i, axi.bresp);
    const LiteToUnit& lite = inputs_.lite;
    set(t.s_axil_awvalid_i, lite.awvalid);
    set(t.s_axil_awaddr_i, lite.awaddr);
    set(t.s_axil_wvalid_i, lite.wvalid);
    set(t.s_axil_wdata_i, lite.wdata);
    set(t.s_axil_wstrb_i, lite.wstrb);
    set(t.s_axil_bready_i, lite.bready);
    set(t.s_axil_arvalid_i, lite.arvalid);
    set(t.s_axil_araddr_i, lite.araddr);
    set(t.s_axil_rready_i, lite.rready);
  }

  void observe() {
    const VTop& t = *top_;
    AxiFromUnit& axi = outputs_.axi;
    axi.ar = {t.m_axi_arvalid_o != 0, t.m_axi_arid_o,    t.m_axi_arlen_o,
              t.m_axi_arsize_o,       t.m_axi_arburst_o, t.m_axi_araddr_o};
    axi.aw = {t.m_axi_awvalid_o != 0, t.m_axi_awid_o,    t.m_axi_awlen_o,
              t.m_axi_awsize_o,       t.m_axi_awburst_o, t.m_axi_awaddr_o};
    axi.rready = t.m_axi_rready_o != 0;
    axi.bready = t.m_axi_bready_o != 0;
    axi.wvalid = t.m_axi_wvalid_o != 0;
    axi.wlast = t.m_axi_wlast_o != 0;
    get_bytes(t.m_axi_wdata_o, axi.wdata.data(), parameters_.port_bytes);
    get_bytes(t.m_axi_wstrb_o, axi.wstrb.data(), parameters_.port_bytes / 8);
    LiteFromUnit& lite = outputs_.lite;
    lite.awready = t.s_axil_awready_o != 0;
    lite.wready = t.s_axil_wready_o != 0;
    lite.arready = t.s_axil_arready_o != 0;
    lite.bvalid = t.s_axil_bvalid_o != 0;
    lite.bresp = t.s_axil_bresp_o;
    lite.rvalid = t.s_axil_rvalid_o != 0;
    lite.rresp = t.s_axil_rresp_o;
    lite.rdata = t.s_axil_rdata_o;
    outputs_.irq = t.irq_o != 0;
  }

  // Data of a monitor is copied with its event only.
  void watch() {
    const VTop& t = *top_;
    Monitors& m = monitors_;
    m.coefficient_valid = t.mon_coefficient_valid_o != 0;
    if (m.coefficient_valid) {
      m.coefficient_feature = t.mon_coefficient_feature_o;
      get(t.mon_coefficient_data_o, m.coefficient);
    }
    m.score_valid = t.mon_score_valid_o != 0;
    if (m.score_valid) get(t.mon_score_data_o, m.score);
    m.weight_valid = t.mon_weight_valid_o != 0;
    if (m.weight_valid) get(t.mon_weight_data_o, m.weight);
    m.tile_valid = t.mon_tile_valid_o != 0;
    if (m.tile_valid) {
      get(t.mon_tile_exponent_o, m.tile_exponent);
      get(t.mon_tile_sum_o, m.tile_sum);
    }
    m.draw_valid = t.mon_draw_valid_o != 0;
    if (m.draw_valid) {
      m.draw_head = t.mon_draw_head_o;
      m.draw_exponent = static_cast<std::int32_t>(t.mon_draw_exponent_o);
      m.draw_mass = t.mon_draw_mass_o;
      m.draw_offset = t.mon_draw_offset_o;
    }
    m.row_valid = t.mon_row_valid_o != 0;
    if (m.row_valid) {
      m.row_key = t.mon_row_key_o;
      get(t.mon_row_counts_o, m.row_counts);
    }
    m.value_valid = t.mon_value_valid_o != 0;
    if (m.value_valid) get(t.mon_value_data_o, m.value);
    m.output_valid = t.mon_output_valid_o != 0;
    if (m.output_valid) {
      m.output_head = t.mon_output_head_o;
      m.output_feature = t.mon_output_feature_o;
      get(t.mon_output_data_o, m.output);
    }
  }

#ifdef SANTA_RTL_COVERAGE
  // Every model of a run leaves its counts in the folder that tools/rtl_coverage.py names, and
  // those of its first evaluation: bits that only settle then have not toggled.
  void write_coverage(const std::string& name) {
    const char* folder = std::getenv("SANTA_RTL_COVERAGE_FOLDER");
    if (folder == nullptr) return;
    const std::string path =
        std::string(folder) + "/" + std::to_string(parameters_.config_hash) + "-" + name + ".dat";
    context_.coveragep()->write(path.c_str());
  }
  static int& models_written() {
    static int count = 0;
    return count;
  }
#endif

  void dump() {
    if (waves_ != nullptr) waves_->dump(context_.time());
    context_.timeInc(kHalfCycle);
  }

  VerilatedContext context_;
  std::unique_ptr<VTop> top_;
  std::unique_ptr<VerilatedFstC> waves_;
};

}  // namespace santa::cosim
