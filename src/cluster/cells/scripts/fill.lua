-- Puts rows into a dataset that is being made, all of them under version 1.
-- KEYS[1] the dataset's key; ARGV: id, then table, key and row of each. Returns how many.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "filling")
if known[1] ~= ARGV[1] or not known[2] then
  return redis.error_reply("WEIRFOREIGN this dataset is not being made")
end
local stamp = struct.pack(">I8", 1)
for i = 2, #ARGV, 3 do
  redis.call("HSET", prefix .. "rows:" .. ARGV[i], ARGV[i + 1], stamp .. "+" .. ARGV[i + 2])
end
return (#ARGV - 1) / 3
