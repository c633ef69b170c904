-- Lists the cells of the dataset. Writes nothing.
-- KEYS[1] the dataset's key; ARGV: id, most orgs of which a cell's leases are added up.
-- Returns the version now, and a flat list of: cell, life, newest life that was retired or 0, version it has applied or -1, milliseconds
-- since it said so or -1, 1 if it has not restated in this term, orgs with leases, sum of those or -1 where they are too many,
-- milliseconds since it left or -1, life up to which what its former lives kept was sent or 0, 1 if it left and told of all its calls.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "filling", "version")
if not known[1] or known[2] then return redis.error_reply("WEIREMPTY this Redis holds no installation") end
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
local time = redis.call("TIME")
local shift = tonumber(redis.call("HGET", KEYS[1], "shift") or 0)
-- Steady time: see `clock.lua`.
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - shift
local found = {}
local function add(value) found[#found + 1] = value end
local lives = redis.call("HGETALL", prefix .. "lives")
for i = 1, #lives, 2 do
  local cell = lives[i]
  add(cell)
  add(lives[i + 1])
  add(redis.call("HGET", prefix .. "retired", cell) or "0")
  local version, at = string.match(redis.call("HGET", prefix .. "applied", cell) or "-1 -1", "^(-?%d+) (-?%d+)$")
  add(version)
  add(at == "-1" and "-1" or string.format("%.0f", math.max(0, now - tonumber(at))))
  add(redis.call("SISMEMBER", prefix .. "restating", cell))
  local orgs = redis.call("SCARD", prefix .. "leases:" .. cell)
  add(orgs)
  local sum = 0
  if orgs <= tonumber(ARGV[2]) then
    for _, org in ipairs(redis.call("SMEMBERS", prefix .. "leases:" .. cell)) do
      sum = sum + tonumber(redis.call("HGET", prefix .. "credit:" .. org, "l:" .. cell) or 0)
    end
  else
    sum = -1
  end
  add(string.format("%.0f", sum))
  local left_at = version == "-1" and redis.call("HGET", prefix .. "left_at", cell)
  add(left_at and string.format("%.0f", math.max(0, now - tonumber(left_at))) or "-1")
  add(redis.call("HGET", prefix .. "sent", cell) or "0")
  add(version == "-1" and redis.call("HGET", prefix .. "calls_left", cell) == lives[i + 1] and 1 or 0)
end
return { known[3], found }
