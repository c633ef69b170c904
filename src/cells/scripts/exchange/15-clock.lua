-- The time of something by the clock of now. What happened is kept by steady time, because all clocks may be set and be put right again
-- (`clock.lua`): what was charged while they were wrong belongs to another day then.

-- Flat list of steady time at which a span began, and by how much the clock was ahead of steady time then.
local spans

local function open_spans()
  local kept = redis.call("HGET", key("clock"), "spans")
  spans = kept and cmsgpack.unpack(kept) or { 0, shift }
  -- A clock that was set back and not ahead again: what was later than now lies in the past.
  for i = #spans - 2, 2, -2 do spans[i] = math.min(spans[i], spans[i + 2]) end
end

-- By how much the clock of now is ahead of steady time for what happened at this steady time.
local function shift_at(steady)
  if not spans then open_spans() end
  local at = #spans - 1
  while at > 1 and spans[at] > steady do at = at - 2 end
  return spans[at + 1]
end

-- Milliseconds since 1970 of a steady time.
local function wall_of(steady) return steady + shift_at(steady) end
