#include "load/pool.h"

#include <algorithm>

namespace throttletest::internal {

ChannelId Pool::Open(ChannelEvents& events) {
  ChannelId id = lines_.size();
  if (free_ids_.empty()) {
    lines_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  lines_[id] = std::make_unique<Line>();
  ++opening_;
  lines_[id]->channel = transport_.Open(id, events);
  return id;
}

void Pool::Forget(ChannelId id) {
  Line& line = at(id);
  if (line.state == Line::State::kOpening && !line.reserved) --opening_;
  if (line.state == Line::State::kIdle) {
    std::erase(served_, id);
    std::erase(fresh_, id);
  }
}

void Pool::Drop(ChannelId id) {
  Forget(id);
  lines_[id].reset();
  free_ids_.push_back(id);
}

void Pool::MakeIdle(ChannelId id) {
  Forget(id);
  Line& line = at(id);
  line.state = Line::State::kIdle;
  line.reserved = false;
  line.request = -1;
  if (line.served) {
    served_.push_back(id);
  } else {
    fresh_.push_back(id);
  }
}

std::optional<ChannelId> Pool::TakeIdle() {
  ChannelId id = 0;
  if (!served_.empty()) {
    id = served_.back();
    served_.pop_back();
  } else if (!fresh_.empty()) {
    id = fresh_.front();
    fresh_.pop_front();
  } else {
    return std::nullopt;
  }
  Line& line = at(id);
  line.state = Line::State::kBusy;
  line.rested = true;
  return id;
}

void Pool::MakeBusy(ChannelId id, std::int64_t request) {
  Forget(id);
  Line& line = at(id);
  line.state = Line::State::kBusy;
  line.reserved = false;
  line.request = request;
}

void Pool::Reserve(ChannelId id, std::int64_t request) {
  Line& line = at(id);
  line.reserved = true;
  line.request = request;
  --opening_;
}

void Pool::DropUnfinished() {
  for (ChannelId id = 0; id < lines_.size(); ++id) {
    if (lines_[id] != nullptr && lines_[id]->state != Line::State::kIdle) Drop(id);
  }
}

}  // namespace throttletest::internal
