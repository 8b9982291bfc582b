// A unit in RTL whose ports or monitors lie: one wrong bit in one place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "santa/cosim/rtl_model.hpp"

namespace santa::cosim {

struct Fault {
  std::function<void(UnitInputs&)> inputs;    // before the unit sees them
  std::function<void(UnitOutputs&)> outputs;  // before the harness sees them
  std::function<void(Monitors&)> monitors;
};

class FaultyUnit : public RtlModel {
 public:
  FaultyUnit(std::unique_ptr<RtlModel> unit, Fault fault)
      : RtlModel(unit->parameters()), unit_(std::move(unit)), fault_(std::move(fault)) {}

  void eval() override {
    unit_->inputs() = inputs_;
    if (fault_.inputs) fault_.inputs(unit_->inputs());
    unit_->eval();
    outputs_ = unit_->outputs();
    monitors_ = unit_->monitors();
    if (fault_.outputs) fault_.outputs(outputs_);
    if (fault_.monitors) fault_.monitors(monitors_);
  }
  void tick() override { unit_->tick(); }
  void open_waves(const std::string& path) override { unit_->open_waves(path); }
  void close_waves() override { unit_->close_waves(); }

 private:
  std::unique_ptr<RtlModel> unit_;
  Fault fault_;
};

}  // namespace santa::cosim
