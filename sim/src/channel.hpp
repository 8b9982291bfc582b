// Valid/ready between two blocks, one token a tile, row or job: the writer waits while the channel
// is full (not ready), the reader while it is empty (not valid).
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "probe.hpp"

namespace santa::sim {

template <typename Token>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void write(Token token, BlockProbe& probe) {
    if (tokens_.size() >= capacity_) {
      const sc_core::sc_time start = time_now();
      writer_waits_ = true;
      while (tokens_.size() >= capacity_) sc_core::wait(room_);
      writer_waits_ = false;
      probe.add_blocked(time_now() - start);
    }
    push(std::move(token));
  }

  // For callbacks, which cannot wait: the caller holds a credit that guarantees room.
  void push(Token token) {
    tokens_.push_back(std::move(token));
    if (reader_waits_) data_.notify();
  }

  // `busy_until`: work that the reader has booked ahead; it starves from then on only.
  Token read(BlockProbe& probe, const sc_core::sc_time& busy_until = sc_core::SC_ZERO_TIME) {
    if (tokens_.empty()) {
      const sc_core::sc_time start = std::max(time_now(), busy_until);
      reader_waits_ = true;
      while (tokens_.empty()) sc_core::wait(data_);
      reader_waits_ = false;
      if (time_now() > start) probe.add_starved(time_now() - start);
    }
    Token token = std::move(tokens_.front());
    tokens_.pop_front();
    if (writer_waits_) room_.notify();
    return token;
  }

 private:
  std::size_t capacity_;
  std::deque<Token> tokens_;
  bool reader_waits_ = false;
  bool writer_waits_ = false;
  sc_core::sc_event data_;
  sc_core::sc_event room_;
};

// A counted resource: tile buffers, stash halves, row slots, words of a buffer. Credits go back in
// order, at once or at a time to come. One block takes them; it is woken once, when there are
// enough.
class Credits {
 public:
  explicit Credits(std::uint64_t count) : left_(count) {}
  Credits(const Credits&) = delete;
  Credits& operator=(const Credits&) = delete;

  void take(BlockProbe& probe, std::uint64_t count = 1) {
    collect_returned();
    if (left_ < count) {
      const sc_core::sc_time start = time_now();
      wanted_ = count;
      wake_taker();
      while (left_ < count) {
        sc_core::wait(enough_);
        collect_returned();
      }
      wanted_ = 0;
      probe.add_blocked(time_now() - start);
    }
    left_ -= count;
  }
  void release(std::uint64_t count = 1) { release_at(time_now(), count); }
  // Gives some back at a time to come, which is not before that of an earlier call.
  void release_at(const sc_core::sc_time& time, std::uint64_t count = 1) {
    returning_.push_back({count, std::max(time, time_now())});
    if (wanted_ > 0) wake_taker();
  }

 private:
  struct Return {
    std::uint64_t count = 0;
    sc_core::sc_time time;
  };

  void collect_returned() {
    while (!returning_.empty() && returning_.front().time <= time_now()) {
      left_ += returning_.front().count;
      returning_.pop_front();
    }
  }
  // When enough will be there, if that is known.
  void wake_taker() {
    std::uint64_t there = left_;
    for (const Return& each : returning_) {
      there += each.count;
      if (there < wanted_) continue;
      if (each.time > time_now()) {
        enough_.notify(each.time - time_now());
      } else {
        enough_.notify();
      }
      return;
    }
  }

  std::uint64_t left_;
  std::uint64_t wanted_ = 0;  // by the block that waits
  std::deque<Return> returning_;
  sc_core::sc_event enough_;
};

}  // namespace santa::sim
