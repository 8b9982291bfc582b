// One unit in RTL, whatever simulates it. A cycle is: set inputs, eval(), look at outputs and
// monitors, tick(). What the unit sees at the edge are the inputs that eval() saw.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "santa/cosim/pins.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

class RtlModel {
 public:
  explicit RtlModel(const UnitParameters& parameters)
      : parameters_(parameters), monitors_(parameters) {}
  virtual ~RtlModel() = default;
  RtlModel(const RtlModel&) = delete;
  RtlModel& operator=(const RtlModel&) = delete;

  const UnitParameters& parameters() const { return parameters_; }
  UnitInputs& inputs() { return inputs_; }
  const UnitOutputs& outputs() const { return outputs_; }
  const Monitors& monitors() const { return monitors_; }

  // Settles everything with the clock low and updates outputs and monitors.
  virtual void eval() = 0;
  // The rising edge.
  virtual void tick() = 0;
  // Writes an FST file of every signal from here on. Throws InputError if it cannot be opened; says
  // nothing of writes that fail later (WavesFile does).
  virtual void open_waves(const std::string& path) = 0;
  virtual void close_waves() = 0;

 protected:
  UnitParameters parameters_;
  UnitInputs inputs_;
  UnitOutputs outputs_;
  Monitors monitors_;
};

// How registers and memories without a reset value start.
struct ModelOptions {
  std::uint32_t initial_seed = 0;  // 0: all zero; else random from this seed, if built for it
};

// A configuration that is built into the program.
struct BuiltModel {
  std::string name;  // of the hardware description
  UnitParameters parameters;
  std::function<std::unique_ptr<RtlModel>(const ModelOptions&)> make;
};

// Every model of this program, in the order of their names.
const std::vector<BuiltModel>& built_models();

// A failed assertion or a $fatal of the RTL.
struct RtlFailure {
  std::string file;
  int line = 0;
  std::string message;
};

// The simulator's handler records failures; the bench takes those since the last call, in order.
void record_rtl_failure(RtlFailure failure);
bool any_rtl_failure();
std::vector<RtlFailure> take_rtl_failures();

}  // namespace santa::cosim
