-- The exchange itself: who may speak, what was answered already, and then the operations in their order.
--
-- {…}:dataset       hash: id, term, version, tombs_from; filling, while it is being made: name of who fills it; unsure_until (`enter.lua`);
--                   shift, clock_changes and steady, the newest steady time of a beat (`clock.lua`)
-- {…}:kept          hash: cell, lane -> life, number of the latest exchange, its answer (MessagePack)

local function refuse(code, text) return redis.error_reply(code .. " " .. text) end

local known = redis.call("HMGET", DATASET, "id", "term", "filling", "unsure_until", "shift", "clock_changes")
if not known[1] or (known[3] and known[3] ~= CELL) then
  return refuse("WEIREMPTY", "this Redis holds no installation")
end
if known[1] ~= ARGV[1] then return refuse("WEIRFOREIGN", "this Redis holds another installation") end
if known[2] ~= ARGV[2] then return refuse("WEIRTERM", "Redis was restarted or replaced") end
if redis.call("HGET", key("lives"), CELL) ~= LIFE then
  return refuse("WEIRFENCED", "a newer process runs under this cell's name, or the cell was retired")
end

unsure_until, shift, clock_changes = tonumber(known[4] or 0), tonumber(known[5] or 0), tonumber(known[6] or 0)
local number = tonumber(ARGV[6])
local kept_field = CELL .. ":" .. LANE
local kept = redis.call("HGET", key("kept"), kept_field)
local latest, answer = 0, nil
if kept then
  local of_life
  of_life, latest, answer = unpack(cmsgpack.unpack(kept))
  if of_life ~= LIFE then latest = 0 end
end
if latest == number then return answer end
-- A cell sends the next one when it has the answer to this one: where some are missing, a failover has lost them.
if number < latest then return refuse("WEIRORDER", "exchange " .. number .. " came after " .. latest) end

-- A clock that was set, the cell's or Redis's, must not decide about money: the cell asks `clock.lua` which of them is right.
local steady = now_ms()
if steady < tonumber(ARGV[7]) or steady > tonumber(ARGV[8]) then
  return refuse("WEIRCLOCK", "it is " .. decimal(steady) .. " by Redis's clock, and the cell expects " .. ARGV[7] .. " to " .. ARGV[8])
end

local results = {}
for i, operation in ipairs(cmsgpack.unpack(ARGV[9])) do
  local run = operations[operation[1]]
  results[i] = run and run(operation) or { "unknown operation" }
end
redis.call("HSET", key("kept"), kept_field, cmsgpack.pack({ LIFE, number, results }))
return results
