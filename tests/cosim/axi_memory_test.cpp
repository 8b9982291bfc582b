// The memory serves what AXI allows, and each rule that a unit may break is named.
#include "santa/cosim/axi_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace santa::cosim {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kPort = 16;

// A manager that is driven by hand, and the memory behind it.
struct Bench {
  explicit Bench(const MemoryBehaviour& behaviour = {},
                 const MemoryTiming& timing = MemoryTiming::ideal(3, 64))
      : memory(kPort, timing, behaviour, 7) {
    memory.bytes().map({RegionKind::kKeys, 0, 0x10000, 0x12000});
    memory.bytes().map({RegionKind::kValues, 0, 0x20000, 0x22000});
    memory.bytes().map({RegionKind::kScratch, 0, 0x30000, 0x31000});
    memory.bytes().map({RegionKind::kOutput, 0, 0x40000, 0x40040});
    for (std::uint64_t a = 0; a < 0x2000; ++a) {
      memory.bytes().write(0x10000 + a, static_cast<std::uint8_t>(a * 7));
      memory.bytes().write(0x20000 + a, static_cast<std::uint8_t>(a * 11));
    }
    cycle(true);
    cycle(true);
    cycle();
  }

  void cycle(bool reset = false) {
    memory.clock(unit, to_unit, reset);
    ++cycles;
  }
  static AxiAddress address(std::uint8_t id, std::uint64_t where, std::uint32_t words) {
    AxiAddress a;
    a.valid = true;
    a.id = id;
    a.address = where;
    a.length = static_cast<std::uint8_t>(words - 1);
    a.size = 4;
    a.burst = kBurstIncrement;
    return a;
  }
  void read(const AxiAddress& a) {
    hand_over(unit.ar, a, [&] { return to_unit.arready; });
  }
  void write_address(const AxiAddress& a) {
    hand_over(unit.aw, a, [&] { return to_unit.awready; });
  }
  void hand_over(AxiAddress& channel, const AxiAddress& a, const std::function<bool()>& ready) {
    channel = a;
    for (int i = 0; i < 100; ++i) {
      const bool taken = ready();
      cycle();
      if (taken) {
        channel.valid = false;
        return;
      }
    }
    FAIL() << "address was not taken";
  }
  void write_word(std::uint8_t fill, bool last) {
    unit.wvalid = true;
    unit.wlast = last;
    unit.wdata.fill(fill);
    unit.wstrb = {0xFF, 0xFF};
    for (bool taken = false; !taken;) {
      taken = to_unit.wready;
      cycle();
    }
    unit.wvalid = false;
  }
  // Takes words for `count` cycles.
  void take(int count) {
    unit.rready = true;
    unit.bready = true;
    for (int i = 0; i < count; ++i) {
      if (to_unit.rvalid) words.push_back(to_unit);
      if (to_unit.bvalid) answers.push_back(to_unit);
      cycle();
    }
  }
  std::string first() const {
    const std::vector<std::string>& all = memory.findings().sentences();
    return all.empty() ? "" : all.front();
  }

  AxiMemory memory;
  AxiFromUnit unit;
  AxiToUnit to_unit;
  std::vector<AxiToUnit> words;
  std::vector<AxiToUnit> answers;
  int cycles = 0;
};

TEST(AxiMemory, ReadsABurstAfterItsLatencyOneWordACycle) {
  Bench bench;
  bench.unit.rready = true;
  bench.read(Bench::address(1, 0x10020, 3));
  const int start = bench.cycles;
  std::vector<int> at;
  for (int i = 0; i < 12; ++i) {
    if (bench.to_unit.rvalid) at.push_back(bench.cycles - start);
    bench.take(1);
  }
  ASSERT_EQ(bench.words.size(), 3U);
  EXPECT_EQ(at, (std::vector<int>{3, 4, 5}));
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(bench.words[w].rid, 1);
    EXPECT_EQ(bench.words[w].rlast, w == 2);
    for (std::size_t b = 0; b < kPort; ++b) {
      EXPECT_EQ(bench.words[w].rdata[b], static_cast<std::uint8_t>((0x20 + w * kPort + b) * 7));
    }
  }
  EXPECT_TRUE(bench.memory.findings().empty()) << bench.first();
  EXPECT_TRUE(bench.memory.idle());
  EXPECT_GT(bench.memory.rules_checked(), 20U);
}

TEST(AxiMemory, WritesTakeEffectWithTheAnswer) {
  Bench bench;
  bench.write_address(Bench::address(0, 0x40000, 2));
  bench.write_word(0xA1, false);
  bench.write_word(0xB2, true);
  EXPECT_EQ(bench.memory.bytes().read(0x40000), 0);
  bench.take(10);
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].bresp, kRespOkay);
  EXPECT_EQ(bench.memory.bytes().read(0x4000F), 0xA1);
  EXPECT_EQ(bench.memory.bytes().read(0x40010), 0xB2);
  EXPECT_TRUE(bench.memory.findings().empty()) << bench.first();
}

TEST(AxiMemory, DataMayComeBeforeItsAddress) {
  MemoryBehaviour behaviour;
  behaviour.aw_waits_for_w = true;
  Bench bench(behaviour);
  bench.write_word(0x5A, true);
  bench.write_address(Bench::address(1, 0x30000, 1));
  bench.take(10);
  EXPECT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.memory.bytes().read(0x30003), 0x5A);
  EXPECT_TRUE(bench.memory.findings().empty()) << bench.first();
}

// Two bursts of different ids, four of them in any order; words of one id stay in order.
TEST(AxiMemory, InterleavesIdsAndKeepsEachInOrder) {
  for (const ReadOrder order :
       {ReadOrder::kAccepted, ReadOrder::kBursts, ReadOrder::kInterleaved}) {
    MemoryBehaviour behaviour;
    behaviour.order = order;
    behaviour.r.probability = 0.3;
    Bench bench(behaviour);
    bench.unit.rready = false;
    for (std::uint32_t i = 0; i < 4; ++i) {
      bench.read(Bench::address(1, 0x10000 + i * 64, 4));
      bench.read(Bench::address(2, 0x20000 + i * 64, 4));
    }
    bench.take(200);
    ASSERT_EQ(bench.words.size(), 32U);
    std::map<int, std::uint32_t> next;
    unsigned changes = 0;
    for (std::size_t w = 0; w < bench.words.size(); ++w) {
      const AxiToUnit& word = bench.words[w];
      const std::uint32_t offset = next[word.rid]++ * kPort;
      EXPECT_EQ(word.rdata[0], static_cast<std::uint8_t>(offset * (word.rid == 1 ? 7U : 11U)));
      changes += w > 0 && bench.words[w - 1].rid != word.rid && !bench.words[w - 1].rlast ? 1U : 0U;
    }
    EXPECT_EQ(changes > 0, order == ReadOrder::kInterleaved);
    EXPECT_TRUE(bench.memory.findings().empty()) << bench.first();
  }
}

TEST(AxiMemory, InjectedErrorsAreAnsweredOnReadsAndWrites) {
  Bench bench;
  bench.memory.inject({0x10010, 0x10011, kRespDecodeError});
  bench.memory.inject({0x40000, 0x40001, kRespSlaveError});
  bench.read(Bench::address(1, 0x10000, 2));
  bench.write_address(Bench::address(0, 0x40000, 1));
  bench.write_word(1, true);
  bench.take(20);
  ASSERT_EQ(bench.words.size(), 2U);
  EXPECT_EQ(bench.words[0].rresp, kRespOkay);
  EXPECT_EQ(bench.words[1].rresp, kRespDecodeError);
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].bresp, kRespSlaveError);
  EXPECT_EQ(bench.memory.bytes().read(0x40000), 0);
  EXPECT_EQ(bench.memory.counters().errors_sent, 2U);
}

// Each pattern lets everything through, and ready is low as often as it says.
TEST(AxiMemory, StallsPauseEveryChannel) {
  for (const bool alternate : {false, true}) {
    MemoryBehaviour behaviour;
    const ChannelStall stall{alternate ? 0.0 : 0.5, alternate};
    behaviour.ar = behaviour.r = behaviour.aw = behaviour.w = behaviour.b = stall;
    behaviour.ready_after_valid = !alternate;
    Bench bench(behaviour);
    bench.unit.rready = bench.unit.bready = true;
    for (std::uint32_t i = 0; i < 8; ++i) {
      bench.read(Bench::address(1, 0x10000 + i * kPort, 1));
      bench.write_address(Bench::address(1, 0x30000 + i * kPort, 1));
      bench.write_word(static_cast<std::uint8_t>(i), true);
    }
    bench.take(100);
    EXPECT_EQ(bench.memory.counters().read_words, 8U);
    EXPECT_EQ(bench.memory.counters().write_words, 8U);
    EXPECT_GT(bench.memory.counters().stalled_cycles[0], 0U);
    EXPECT_GT(bench.memory.counters().stalled_cycles[2], 0U);
    EXPECT_GT(bench.memory.counters().stalled_cycles[3], 0U);
    EXPECT_TRUE(bench.memory.idle());
    EXPECT_TRUE(bench.memory.findings().empty()) << bench.first();
  }
}

TEST(AxiMemory, RequestsInFlightAreLimited) {
  Bench bench({}, MemoryTiming::ideal(50, 2));
  bench.read(Bench::address(1, 0x10000, 1));
  bench.read(Bench::address(1, 0x10010, 1));
  bench.unit.ar = Bench::address(1, 0x10020, 1);
  for (int i = 0; i < 20; ++i) {
    bench.cycle();
    EXPECT_FALSE(bench.to_unit.arready);
  }
  EXPECT_EQ(bench.memory.counters().most_outstanding, 2U);
}

// 12.8 GB/s a channel at 1 GHz is 12.8 bytes a cycle: 256 bytes take 20 cycles on one channel.
TEST(MemoryTiming, FollowsTheBandwidthOfItsChannels) {
  const config::HardwareConfig edge = config::load_hardware("edge-lpddr5");
  const MemoryTiming timing = MemoryTiming::of(edge);
  constexpr std::uint64_t kCycle = 1000000;
  ChannelBookings bookings(timing);
  std::vector<std::uint64_t> done;
  bookings.book(0, 16, 16, 0, done);
  EXPECT_EQ(done.back(), 120 * kCycle);
  EXPECT_EQ(done.front(), 100 * kCycle + kCycle * 16 * 10 / 128);
  bookings.book(256, 16, 16, 0, done);  // the next channel is free
  EXPECT_EQ(done.back(), 120 * kCycle);
  bookings.book(1024, 16, 16, 0, done);  // the first channel again
  EXPECT_EQ(done.back(), 140 * kCycle);
  bookings.book(2048, 1, 16, 1000 * kCycle, done);  // a granule of 32 bytes is moved
  bookings.book(2048, 1, 16, 1000 * kCycle, done);
  EXPECT_EQ(done.back(), 1100 * kCycle + kCycle * 48 * 10 / 128);
}

// A unit that breaks one rule, and what is said about it.
struct Breach {
  const char* name;
  std::function<void(Bench&)> act;
  const char* sentence;
};

AxiAddress altered(const std::function<void(AxiAddress&)>& change) {
  AxiAddress a = Bench::address(1, 0x10000, 2);
  change(a);
  return a;
}

const Breach kBreaches[] = {
    {"unaligned", [](Bench& b) { b.read(Bench::address(1, 0x10008, 1)); }, "no multiple of 16"},
    {"boundary", [](Bench& b) { b.read(Bench::address(1, 0x10FF0, 2)); }, "crosses a 4 KiB"},
    {"unmapped", [](Bench& b) { b.read(Bench::address(1, 0x50000, 1)); }, "in no region"},
    {"end", [](Bench& b) { b.write_address(Bench::address(0, 0x40030, 2)); }, "beyond the end"},
    {"fixed", [](Bench& b) { b.read(altered([](AxiAddress& a) { a.burst = 0; })); }, "not INCR"},
    {"narrow", [](Bench& b) { b.read(altered([](AxiAddress& a) { a.size = 2; })); }, "size 2"},
    {"id", [](Bench& b) { b.read(Bench::address(2, 0x10000, 1)); }, "keys belong to id 1"},
    {"read output", [](Bench& b) { b.read(Bench::address(0, 0x40000, 1)); }, "read of output"},
    {"write keys", [](Bench& b) { b.write_address(Bench::address(0, 0x10000, 1)); },
     "write of keys"},
    {"early last",
     [](Bench& b) {
       b.write_address(Bench::address(0, 0x40000, 2));
       b.write_word(0, true);
     },
     "WLAST is high on word 1"},
    {"no last",
     [](Bench& b) {
       b.write_address(Bench::address(0, 0x40000, 1));
       b.write_word(0, false);
     },
     "WLAST is low on word 1"},
    {"strobe",
     [](Bench& b) {
       b.write_address(Bench::address(0, 0x40000, 1));
       b.unit.wstrb[2] = 1;
       b.unit.wvalid = b.unit.wlast = true;
       b.cycle();
       b.cycle();
     },
     "beyond the port is strobed"},
    {"withdrawn",
     [](Bench& b) {
       b.to_unit.arready = false;
       b.unit.ar = Bench::address(1, 0x10000, 1);
       b.cycle();
       b.unit.ar.valid = false;
       b.cycle();
     },
     "read address was withdrawn"},
    {"changed address",
     [](Bench& b) {
       b.to_unit.awready = false;
       b.unit.aw = Bench::address(0, 0x40000, 1);
       b.cycle();
       b.unit.aw.address += 16;
       b.cycle();
     },
     "write address changed"},
    {"changed data",
     [](Bench& b) {
       b.to_unit.wready = false;
       b.unit.wvalid = true;
       b.cycle();
       b.unit.wdata[5] = 1;
       b.cycle();
     },
     "write data changed"},
    {"reset",
     [](Bench& b) {
       b.unit.wvalid = true;
       b.cycle(true);
       b.cycle(true);
     },
     "WVALID is high after reset"},
    {"read before answer",
     [](Bench& b) {
       b.write_address(Bench::address(1, 0x30000, 2));
       b.read(Bench::address(3, 0x30010, 1));
     },
     "while a write of the same bytes"},
    {"write before data",
     [](Bench& b) {
       b.read(Bench::address(3, 0x30010, 1));
       b.write_address(Bench::address(1, 0x30000, 2));
     },
     "while a read of the same bytes"},
};

TEST(AxiRules, EachBreachIsNamed) {
  for (const Breach& breach : kBreaches) {
    SCOPED_TRACE(breach.name);
    Bench bench;
    ASSERT_TRUE(bench.memory.findings().empty()) << bench.first();
    breach.act(bench);
    EXPECT_EQ(bench.memory.findings().count(), 1U);
    EXPECT_THAT(bench.first(), HasSubstr(breach.sentence));
    EXPECT_THAT(bench.first(), HasSubstr("memory port, cycle "));
  }
}

TEST(ByteMemory, RegionsMustNotOverlap) {
  ByteMemory memory;
  memory.map({RegionKind::kKeys, 0, 100, 200});
  EXPECT_THROW(memory.map({RegionKind::kKeys, 0, 199, 300}), std::logic_error);
  EXPECT_THROW(memory.map({RegionKind::kKeys, 0, 50, 101}), std::logic_error);
  memory.map({RegionKind::kValues, 1, 200, 300});
  EXPECT_EQ(memory.find(99), nullptr);
  EXPECT_EQ(memory.find(199)->kind, RegionKind::kKeys);
  EXPECT_EQ(memory.find(200)->request, 1U);
  EXPECT_EQ(memory.find(300), nullptr);
}

}  // namespace
}  // namespace santa::cosim
