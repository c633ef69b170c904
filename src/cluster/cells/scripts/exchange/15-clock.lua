-- The time of something by the clock of now. What happened is kept by steady time, because all clocks may be set and be put right again
-- (`clock.lua`): what was charged while they were wrong belongs to another day then.

-- Flat list of steady time at which a span of the clock began, and by how much the clock was ahead of steady time in it.
local spans

local function open_spans()
  local kept = redis.call("HGET", key("clock"), "spans")
  spans = kept and cmsgpack.unpack(kept) or { 0, shift }
end

-- Place in `spans` of the one that something at this steady time is of.
local function span_of(steady)
  if not spans then open_spans() end
  local at = #spans - 1
  while at > 1 and spans[at] > steady do at = at - 2 end
  return at
end

-- Milliseconds since 1970 of a steady time. A clock that was set back, and not put right since: what was later than that moment then was
-- says lies before it.
local function wall_of(steady)
  local at = span_of(steady)
  local wall = steady + spans[at + 1]
  for i = at + 2, #spans, 2 do wall = math.min(wall, spans[i] + spans[i + 1]) end
  return wall
end
