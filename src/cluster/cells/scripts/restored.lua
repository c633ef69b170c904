-- Notes that the dataset was restored, together with the folders of its cells: each of them may be behind it once.
-- KEYS[1] the dataset's key; ARGV: id. Returns how many cells there are.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this Redis holds another installation")
end
local cells = redis.call("HKEYS", prefix .. "lives")
redis.call("DEL", prefix .. "restored")
for _, cell in ipairs(cells) do redis.call("SADD", prefix .. "restored", cell) end
return #cells
