-- Opens a dataset that has been filled, and forgets who filled it. KEYS[1] the dataset's key; ARGV: id, lanes that were used to
-- fill it. Returns 1; may run twice.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this is another dataset")
end
local filler = redis.call("HGET", KEYS[1], "filling")
if filler then
  redis.call("HDEL", prefix .. "lives", filler)
  redis.call("HDEL", prefix .. "formats", filler)
  redis.call("SREM", prefix .. "restating", filler)
  for i = 2, #ARGV do redis.call("HDEL", prefix .. "kept", filler .. ":" .. ARGV[i]) end
  redis.call("HDEL", KEYS[1], "filling")
  redis.call("HSET", KEYS[1], "version", "1", "origin", ARGV[1], "tombs_from", "1")
end
return 1
