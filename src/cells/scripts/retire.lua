-- Ends a cell for ever: no exchange of its lives so far is accepted again, and nobody waits for it.
-- KEYS[1] the dataset's key; ARGV: id, cell, milliseconds of silence that are asked for.
-- Returns 1; 0 where no such cell is known; -1 where it gave a sign of life too recently.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this Redis holds another installation")
end
local cell = ARGV[2]
if redis.call("HEXISTS", prefix .. "lives", cell) == 0 then return 0 end
local said = redis.call("HGET", prefix .. "applied", cell)
if said then
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  if now - tonumber(string.match(said, " (%d+)$")) < tonumber(ARGV[3]) then return -1 end
end
-- One more than any process of it knows: an exchange is accepted from the newest life only.
redis.call("HSET", prefix .. "retired", cell, redis.call("HINCRBY", prefix .. "lives", cell, 1))
redis.call("HDEL", prefix .. "applied", cell)
redis.call("SREM", prefix .. "restating", cell)
-- Its leases of credit: what its folder still has to charge goes to the operator's list.
local leased = redis.call("SMEMBERS", prefix .. "leases:" .. cell)
for _, org in ipairs(leased) do
  local credit = prefix .. "credit:" .. org
  for _, what in ipairs({ "l", "h" }) do
    local had = redis.call("HGET", credit, what .. ":" .. cell)
    if had and had ~= "0" then redis.call("HINCRBY", credit, what, "-" .. had) end
  end
  redis.call("HDEL", credit, "l:" .. cell, "h:" .. cell)
end
redis.call("DEL", prefix .. "leases:" .. cell, prefix .. "wanted:" .. cell)
return 1
