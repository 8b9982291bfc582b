#include "santa/cosim/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "santa/rtl/registers.hpp"

namespace santa::cosim {
namespace {

namespace reg = rtl::registers;

// Longest time that a unit at work shows nothing at its ports: a tile of the largest head
// dimension with seven digits in every coefficient, and memory that stalls.
std::uint64_t stall_limit(const UnitParameters& unit) {
  constexpr std::uint64_t kPasses = 8;
  constexpr std::uint64_t kSlack = 20000;
  return kPasses * unit.max_head_dimension * unit.tile_keys / unit.key_lanes *
             unit.key_buffer_tiles +
         kSlack;
}

}  // namespace

Session::Session(RtlModel& model, const Scenario& scenario, const std::string& waves,
                 Coverage& coverage)
    : model_(model),
      scenario_(scenario),
      waves_(waves),
      coverage_(coverage),
      memory_(model.parameters().port_bytes, scenario.timing, scenario.behaviour,
              scenario.seed_of_addresses),
      scoreboard_(model.parameters()),
      bench_(model, memory_, scoreboard_, stall_limit(model.parameters())),
      driver_(bench_, scenario.driver, scenario.seed_of_addresses + 1),
      random_(scenario.seed_of_addresses + 2) {}

void Session::prepare() {
  const UnitParameters& unit = model_.parameters();
  Allocator allocator(random_.fork());
  for (std::uint32_t i = 0; i < scenario_.requests.size(); ++i) {
    const ScenarioRequest& r = scenario_.requests[i];
    auto prepared = std::make_shared<ScoreboardRequest>();
    prepared->index = i;
    prepared->request = r.request;
    prepared->expected = r.expected ? *r.expected : expect(r.request);
    prepared->expected_from = r.expected_from;
    prepared->runs = r.ending != Ending::kRefused;
    const Placement placement = place(r.request, unit, allocator);
    const auto tag = static_cast<std::uint32_t>(random_.next());
    prepared->image = make_image(r.request, unit, placement, tag, i, random_);
    std::uint64_t descriptor = prepared->image.address(RegionKind::kDescriptor);
    if (r.ending == Ending::kRefused) {
      refusals()[r.refusal].spoil(unit, prepared->image.blocks.front().bytes, descriptor);
    }
    for (const RequestImage::Block& block : prepared->image.blocks) {
      // Of a refused request only the descriptor may be read.
      if (prepared->runs || block.region.kind == RegionKind::kDescriptor) {
        memory_.bytes().map(block.region);
      }
      memory_.bytes().write(block.region.begin, block.bytes.data(), block.bytes.size());
    }
    descriptors_.push_back(descriptor);
    prepared_.push_back(std::move(prepared));
  }
}

std::uint32_t Session::expected_code(std::uint32_t index) const {
  switch (scenario_.requests[index].ending) {
    case Ending::kDone:
      return 0;
    case Ending::kRefused:
      return 1;
    case Ending::kReadError:
      return 2;
    case Ending::kWriteError:
      return 3;
  }
  return 0;
}

// After every reset.
void Session::start() {
  enabled_ = false;
  counted_from_ = memory_.counters();
  submitted_from_ = submitted_;
  rows_since_reset_ = 0;
  rows_known_ = true;
  traffic_from_ = memory_.counters();
  traffic_ = {};
  error_completed_ = false;
  const std::uint64_t never = UINT64_MAX;
  driver_.stop_at(resets_done_ < scenario_.resets.size()
                      ? bench_.now() + scenario_.resets[resets_done_]
                      : never);
  driver_.check_identity();
  driver_.check_reset_values();
  if (scenario_.check_registers) driver_.check_registers();
  capacity_ = driver_.free_slots();
  if (capacity_ == 0) bench_.fail("registers", "control_registers: no slot is free after reset");
  if (!scenario_.enable_late && !scenario_.fill_first) {
    driver_.enable();
    enabled_ = true;
  }
}

void Session::check_slots() {
  const std::uint32_t under_way = submitted_ - completed_;
  const std::uint32_t free = driver_.free_slots();
  if (free == capacity_ - under_way) return;
  bench_.fail("registers",
              fmt::format("control_registers: STATUS.free_slots: RTL {}, expected {} with {} of {} "
                          "slots in use",
                          free, capacity_ - under_way, under_way, capacity_));
  throw Stopped{};
}

bool Session::may_submit() const {
  if (submitted_ == scenario_.requests.size()) return false;
  const std::uint32_t under_way = submitted_ - completed_;
  return under_way < std::max(scenario_.most_queued, 1U) && under_way <= capacity_;
}

void Session::submit_next() {
  const std::uint32_t under_way = submitted_ - completed_;
  if (random_.chance(0.2)) check_slots();
  const bool full = under_way == capacity_;
  // The unit may start before software sees the answer of its write.
  if (!full) scoreboard_.submit(prepared_[submitted_]);
  const bool taken = driver_.submit(descriptors_[submitted_]);
  if (taken == full) {
    bench_.fail("registers", fmt::format("control_registers: a submission with {} of {} slots in "
                                         "use was {}",
                                         under_way, capacity_, taken ? "taken" : "refused"));
    throw Stopped{};
  }
  if (full) {
    coverage_.hit("driver: queue full, submission refused");
    return;
  }
  if (under_way > 0) coverage_.hit("driver: several requests queued");
  ++submitted_;
}

void Session::take(const Completion& completion) {
  const std::uint32_t index = completed_;
  const ScoreboardRequest& r = *prepared_[index];
  const Ending ending = scenario_.requests[index].ending;
  const std::uint32_t code = expected_code(index);
  const auto wrong = [&](const char* what, std::uint64_t rtl, std::uint64_t expected) {
    bench_.fail("registers",
                fmt::format("control_registers: request {} ({}): {}: RTL {}, expected {}", index,
                            r.request.workload, what, rtl, expected));
    throw Stopped{};
  };
  if (completion.code != code) wrong("completion code", completion.code, code);
  // The tag of a descriptor that was not read as it is, is nobody's.
  if (ending == Ending::kDone && completion.tag != r.image.tag) {
    wrong("completion tag", completion.tag, r.image.tag);
  }
  coverage_.hit(fmt::format("completion: {}", completion.code));
  error_completed_ = error_completed_ || completion.code != 0;
  coverage_.hit(scenario_.driver.interrupt ? "driver: interrupt" : "driver: polling");
  coverage_.sample(r);
  scoreboard_.complete(memory_.bytes(), bench_.now());
  if (scoreboard_.first()) throw Stopped{};
  if (ending == Ending::kDone) rows_since_reset_ += r.expected.result.rows.size();
  traffic_ += expected_traffic(r, descriptors_[index], model_.parameters());
  const std::uint64_t announced = driver_.announced_at();
  result_.requests.push_back({completion.code, announced > driver_.submitted_at()
                                                   ? announced - driver_.submitted_at()
                                                   : 0});
  ++completed_;
}

// A request that the memory cuts short: alone, and out of the scoreboard's sight, for how far it
// comes is not specified.
void Session::run_with_error() {
  const ScenarioRequest& r = scenario_.requests[submitted_];
  const ScoreboardRequest& prepared = *prepared_[submitted_];
  check_traffic();
  const Region region = prepared.image.find(r.error_region)->region;
  const bool reads = r.ending == Ending::kReadError;
  scoreboard_.pause(true);
  memory_.inject({region.begin, region.end, r.error_response, reads, !reads});
  const std::uint64_t sent_before = memory_.counters().errors_sent;
  if (!driver_.submit(descriptors_[submitted_])) {
    bench_.fail("registers", "control_registers: a submission to an empty queue was refused");
    throw Stopped{};
  }
  ++submitted_;
  if (!enabled_) {
    driver_.enable();
    enabled_ = true;
  }
  const Completion completion = driver_.wait_for_completion();
  const bool touched = memory_.counters().errors_sent > sent_before;
  const std::uint32_t code = touched ? expected_code(completed_) : 0;
  if (completion.code != code) {
    bench_.fail("registers", fmt::format("attention_unit: request {}: completion code {} after an "
                                         "error on {} of its {}, expected {}",
                                         completed_, completion.code, reads ? "reads" : "writes",
                                         name_of(r.error_region), code));
    throw Stopped{};
  }
  coverage_.hit(fmt::format("completion: {}", completion.code));
  error_completed_ = error_completed_ || completion.code != 0;
  if (touched && reads) check_untouched(prepared);
  settle();
  memory_.clear_errors();
  scoreboard_.pause(false);
  rows_known_ = false;
  traffic_from_ = memory_.counters();
  result_.requests.push_back({completion.code, 0});
  ++completed_;
}

// Nothing of a request is left in the unit once it has completed.
void Session::settle() {
  constexpr unsigned kCycles = 50;
  for (unsigned i = 0; i < kCycles; ++i) bench_.cycle();
  if (!memory_.idle()) {
    bench_.fail("protocol", fmt::format("attention_unit: a transfer of request {} is under way "
                                        "after its completion",
                                        completed_));
  }
  if (bench_.failure()) throw Stopped{};
}

void Session::check_untouched(const ScoreboardRequest& request) {
  const RequestImage::Block& output = *request.image.find(RegionKind::kOutput);
  for (std::size_t i = 0; i < output.bytes.size(); ++i) {
    if (memory_.bytes().read(output.region.begin + i) == output.bytes[i]) continue;
    bench_.fail("mismatch", fmt::format("normalizer: request {}: output was written after an error "
                                        "on its reads, at byte {}",
                                        request.index, i));
    throw Stopped{};
  }
}

// What went over the port against what the completed requests need, since it was last compared.
void Session::check_traffic() {
  const std::string difference = traffic_difference(traffic_, traffic_from_, memory_.counters());
  traffic_from_ = memory_.counters();
  traffic_ = {};
  if (difference.empty()) return;
  bench_.fail("traffic", "attention_unit: " + difference);
  throw Stopped{};
}

// The unit's own count of words and rows against the memory's, since the last reset.
void Session::check_counters() {
  const MemoryCounters& now = memory_.counters();
  const MemoryCounters& from = counted_from_;
  struct Pair {
    std::size_t counter;
    std::uint64_t expected;
  };
  const Pair pairs[] = {
      {reg::kCounterRequests, submitted_ - submitted_from_},
      {reg::kCounterQueryBeats, now.read_words_of[0] - from.read_words_of[0]},
      {reg::kCounterKeyBeats, now.read_words_of[1] - from.read_words_of[1]},
      {reg::kCounterValueBeats, now.read_words_of[2] - from.read_words_of[2]},
      {reg::kCounterScratchReadBeats, now.read_words_of[3] - from.read_words_of[3]},
      {reg::kCounterOutputBeats, now.write_words_of[0] - from.write_words_of[0]},
      {reg::kCounterScratchWriteBeats, now.write_words_of[1] - from.write_words_of[1]},
      {reg::kCounterRows, rows_since_reset_},
  };
  for (const Pair& pair : pairs) {
    if (pair.counter == reg::kCounterRows && !rows_known_) continue;
    const reg::CounterRegister& counter = reg::kCounters[pair.counter];
    const std::uint64_t rtl = driver_.read_counter(counter.offset);
    if (rtl == pair.expected) continue;
    bench_.fail("registers", fmt::format("control_registers: counter {}: RTL {}, expected {}",
                                         counter.name, rtl, pair.expected));
    throw Stopped{};
  }
  result_.key_beats = driver_.read_counter(reg::kCounters[reg::kCounterKeyBeats].offset);
  result_.key_cycles = driver_.read_counter(reg::kCounters[reg::kCounterKeyCycles].offset);
}

void Session::restore(const ScoreboardRequest& request) {
  for (const RequestImage::Block& block : request.image.blocks) {
    memory_.bytes().write(block.region.begin, block.bytes.data(), block.bytes.size());
  }
}

// Everything under way is lost; software starts again with what has not completed.
void Session::reset_under_way() {
  coverage_.hit("driver: reset under way");
  if (scoreboard_.drawing()) coverage_.hit("driver: reset while rows are drawn");
  ++resets_done_;
  scoreboard_.forget();
  scoreboard_.pause(false);
  memory_.clear_errors();
  driver_.stop_at(UINT64_MAX);
  bench_.reset(1 + random_.below(3));
  for (std::uint32_t i = completed_; i < submitted_; ++i) restore(*prepared_[i]);
  submitted_ = completed_;
}

void Session::drive() {
  start();
  while (completed_ < scenario_.requests.size()) {
    const bool error = submitted_ < scenario_.requests.size() &&
                       (scenario_.requests[submitted_].ending == Ending::kReadError ||
                        scenario_.requests[submitted_].ending == Ending::kWriteError);
    if (error && submitted_ == completed_) {
      run_with_error();
      continue;
    }
    const bool full = submitted_ - completed_ == capacity_;
    const bool refused_before = full && random_.chance(0.7);
    if (!error && may_submit() && !refused_before) {
      submit_next();
      if (enabled_ || scenario_.fill_first || !random_.chance(0.3)) continue;
    }
    if (!enabled_) {
      driver_.enable();
      enabled_ = true;
    }
    if (submitted_ > completed_) take(driver_.wait_for_completion());
  }
  settle();
  check_slots();
  driver_.check_error_event(error_completed_);
  if (driver_.busy()) bench_.fail("registers", "control_registers: STATUS.busy without a request");
  check_counters();
  check_traffic();
}

SessionResult Session::run() {
  prepare();
  if (!waves_.empty()) model_.open_waves(waves_);
  take_rtl_failures();
  bench_.reset(3);
  for (bool done = false; !done;) {
    try {
      drive();
      done = true;
    } catch (const Stopped&) {
      if (bench_.failure() || scoreboard_.first() || !driver_.reset_due()) break;
      reset_under_way();
    }
  }
  model_.close_waves();
  result_.failure = bench_.failure();
  if (scoreboard_.first() && !result_.failure) result_.failure = Failure{"mismatch", ""};
  if (result_.failure && result_.failure->text.empty()) result_.mismatch = scoreboard_.first();
  result_.cycles = bench_.now();
  result_.rules_checked = memory_.rules_checked();
  result_.memory = memory_.counters();
  result_.checked = scoreboard_.checked();
  result_.expected = scoreboard_.expected();
  coverage_.sample(memory_.counters(), scenario_.behaviour);
  return std::move(result_);
}

}  // namespace santa::cosim
