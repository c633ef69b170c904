-- Begins a term where Redis runs as another process than before, and a new life of a cell where it starts.
-- KEYS[1] the dataset's key; ARGV: id, cell, "start" or "". Returns the term, the cell's life and the version now.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "term", "filling")
if not known[1] or known[3] then return redis.error_reply("WEIREMPTY this Redis holds no installation") end
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
local cell = ARGV[2]
local life = tonumber(redis.call("HGET", prefix .. "lives", cell) or 0)
local retired = tonumber(redis.call("HGET", prefix .. "retired", cell) or 0)
if ARGV[3] == "start" then
  life = redis.call("HINCRBY", prefix .. "lives", cell, 1)
elseif life <= retired then
  return redis.error_reply("WEIRFENCED this cell was retired")
end
local term = string.match(redis.call("INFO", "server"), "run_id:(%x+)")
if term ~= known[2] then
  redis.call("HSET", KEYS[1], "term", term)
  redis.call("DEL", prefix .. "ticket", prefix .. "restating")
  local lives = redis.call("HGETALL", prefix .. "lives")
  for i = 1, #lives, 2 do
    local gone = tonumber(redis.call("HGET", prefix .. "retired", lives[i]) or 0)
    if tonumber(lives[i + 1]) > gone then redis.call("SADD", prefix .. "restating", lives[i]) end
  end
end
return { term, tostring(life), redis.call("HGET", KEYS[1], "version") }
