-- Which cells there are, and which of them may have records that are not in ClickHouse. Writes nothing.
-- KEYS[1] the dataset's key; ARGV: id.
-- Returns for each cell: name; version that it has applied and milliseconds since it said so, both -1 where it left; 1 where it hears its
-- messages; until when its records are in ClickHouse, or 0.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this Redis holds another installation")
end
local time = redis.call("TIME")
local shift = tonumber(redis.call("HGET", KEYS[1], "shift") or 0)
-- Steady time: see `clock.lua`.
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - shift
local found = {}
local function add(cell, version, age)
  local hears = redis.call("PUBSUB", "NUMSUB", prefix .. "signals:" .. cell)[2] > 0
  local inserted = redis.call("HGET", prefix .. "inserted", cell) or "0"
  found[#found + 1] = { cell, version, age, hears and 1 or 0, inserted }
end
local all = redis.call("HGETALL", prefix .. "applied")
for i = 1, #all, 2 do
  local version, at = string.match(all[i + 1], "^(%d+) (%d+)$")
  add(all[i], version, math.max(0, now - tonumber(at)))
end
for _, cell in ipairs(redis.call("HKEYS", prefix .. "inserted")) do
  if redis.call("HEXISTS", prefix .. "applied", cell) == 0 then add(cell, "-1", -1) end
end
return found
