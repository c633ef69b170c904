-- Opens a dataset that has been filled. KEYS[1] the dataset's key; ARGV: id. Returns 1; may run twice.
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this is another dataset")
end
if redis.call("HDEL", KEYS[1], "filling") == 1 then
  redis.call("HSET", KEYS[1], "version", "1", "origin", ARGV[1], "tombs_from", "1")
end
return 1
