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
      const sc_core::sc_time start = sc_core::sc_time_stamp();
      while (tokens_.size() >= capacity_) sc_core::wait(room_);
      probe.add_blocked(sc_core::sc_time_stamp() - start);
    }
    push(std::move(token));
  }

  // For callbacks, which cannot wait: the caller holds a credit that guarantees room.
  void push(Token token) {
    tokens_.push_back(std::move(token));
    data_.notify();
  }

  // `busy_until`: work that the reader has booked ahead; it starves from then on only.
  Token read(BlockProbe& probe, const sc_core::sc_time& busy_until = sc_core::SC_ZERO_TIME) {
    if (tokens_.empty()) {
      const sc_core::sc_time start = std::max(sc_core::sc_time_stamp(), busy_until);
      while (tokens_.empty()) sc_core::wait(data_);
      if (sc_core::sc_time_stamp() > start) probe.add_starved(sc_core::sc_time_stamp() - start);
    }
    Token token = std::move(tokens_.front());
    tokens_.pop_front();
    room_.notify();
    return token;
  }

 private:
  std::size_t capacity_;
  std::deque<Token> tokens_;
  sc_core::sc_event data_;
  sc_core::sc_event room_;
};

// A counted resource: tile buffers, stash halves, row slots.
class Credits {
 public:
  explicit Credits(std::uint64_t count) : left_(count) {}
  Credits(const Credits&) = delete;
  Credits& operator=(const Credits&) = delete;

  void take(BlockProbe& probe) {
    collect_returned();
    if (left_ == 0) {
      const sc_core::sc_time start = sc_core::sc_time_stamp();
      while (left_ == 0) {
        if (returning_.empty()) {
          sc_core::wait(released_);
        } else {
          sc_core::wait(returning_.front() - sc_core::sc_time_stamp());
        }
        collect_returned();
      }
      probe.add_blocked(sc_core::sc_time_stamp() - start);
    }
    --left_;
  }
  void release() {
    ++left_;
    released_.notify();
  }
  // Gives one back at a time to come, which is not before that of an earlier call. No event is
  // spent on it unless somebody waits. All credits of one resource go back in the same way.
  void release_at(const sc_core::sc_time& time) {
    returning_.push_back(time);
    released_.notify();
  }

 private:
  void collect_returned() {
    while (!returning_.empty() && returning_.front() <= sc_core::sc_time_stamp()) {
      returning_.pop_front();
      ++left_;
    }
  }

  std::uint64_t left_;
  std::deque<sc_core::sc_time> returning_;
  sc_core::sc_event released_;
};

// Words of a buffer, given back in order at times that may be still to come.
class Room {
 public:
  explicit Room(std::uint64_t words) : left_(words) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  void take(std::uint64_t words, BlockProbe& probe) {
    collect_returned();
    const sc_core::sc_time start = sc_core::sc_time_stamp();
    while (left_ < words) {
      if (returning_.empty()) {
        sc_core::wait(released_);
      } else {
        sc_core::wait(returning_.front().second - sc_core::sc_time_stamp());
      }
      collect_returned();
    }
    if (sc_core::sc_time_stamp() > start) probe.add_blocked(sc_core::sc_time_stamp() - start);
    left_ -= words;
  }
  void release_at(std::uint64_t words, const sc_core::sc_time& time) {
    returning_.emplace_back(words, std::max(time, sc_core::sc_time_stamp()));
    released_.notify();
  }

 private:
  void collect_returned() {
    while (!returning_.empty() && returning_.front().second <= sc_core::sc_time_stamp()) {
      left_ += returning_.front().first;
      returning_.pop_front();
    }
  }

  std::uint64_t left_;
  std::deque<std::pair<std::uint64_t, sc_core::sc_time>> returning_;
  sc_core::sc_event released_;
};

}  // namespace santa::sim
