-- Values of keys, for a cell that only reads.
-- KEYS[1] the dataset's key; ARGV: id, term, names without the prefix.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "term")
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
if known[2] ~= ARGV[2] then return redis.error_reply("WEIRTERM Redis was restarted or replaced") end
local values = {}
for i = 3, #ARGV do values[i - 2] = redis.call("GET", prefix .. ARGV[i]) end
return values
