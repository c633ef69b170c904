-- Finds a call that outlives its client among those that cells told of: see `exchange/74-calls.lua`. Writes nothing.
-- KEYS[1] the dataset's key; ARGV: id, the call's id.
-- Returns the cell that told of it, the newest life of it that did, and what that said; nothing where none did.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this Redis holds another installation")
end
local found, newest = {}, -1
for _, of in ipairs(redis.call("SMEMBERS", prefix .. "calls")) do
  local said = redis.call("HGET", prefix .. "calls:" .. of, ARGV[2])
  local cell, life = string.match(of, "^([^:]*):(.*)$")
  if said and tonumber(life) > newest then found, newest = { cell, life, said }, tonumber(life) end
end
return found
