-- Ends a cell for ever: no exchange of its lives so far is accepted again, and nobody waits for it.
-- KEYS[1] the dataset's key; ARGV: id, cell, milliseconds of silence that are asked for, least and most that is expected of
-- Redis's time, and by how much that may still be wrong.
-- Returns 1; 0 where no such cell is known; -1 where it gave a sign of life, or began, too recently.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
if redis.call("HGET", KEYS[1], "id") ~= ARGV[1] then
  return redis.error_reply("WEIRFOREIGN this Redis holds another installation")
end
local cell = ARGV[2]
local life = redis.call("HGET", prefix .. "lives", cell)
if not life then
  -- A folder took the name (`own-name.ts`), and its first start is still to come.
  if redis.call("HEXISTS", prefix .. "folders", cell) == 0 then return 0 end
  life = "0"
end
local time = redis.call("TIME")
local wall = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
-- By a clock that was set ahead each cell would have been silent for long.
if wall < tonumber(ARGV[4]) or wall > tonumber(ARGV[5]) then
  return redis.error_reply(
    "WEIRCLOCK Redis's clock says " .. string.format("%.0f", wall) .. ", and " .. ARGV[4] .. " to " .. ARGV[5] .. " is expected"
  )
end
-- Steady time: see `clock.lua`.
local now = wall - tonumber(redis.call("HGET", KEYS[1], "shift") or 0)
-- Without a cell that goes by Redis's clock just now, that clock may have been set by as much as two machines may differ.
local silence = tonumber(ARGV[3])
local is_vouched = false
for _, at in ipairs(redis.call("HVALS", prefix .. "vouched")) do
  local age = now - tonumber(at)
  if age >= 0 and age < 2000 then is_vouched = true end
end
if silence > 0 and not is_vouched then silence = silence + tonumber(ARGV[6]) end
local function is_recent(at) return now - tonumber(at) < silence end
local said = redis.call("HGET", prefix .. "applied", cell)
if said and is_recent(string.match(said, " (%d+)$")) then return -1 end
-- A life is the time at which it began: a cell that is starting has not said anything yet.
if redis.call("HGET", prefix .. "left", cell) ~= life and is_recent(life) then return -1 end
-- One more than any process of it knows: an exchange is accepted from the newest life only.
redis.call("HSET", prefix .. "retired", cell, redis.call("HINCRBY", prefix .. "lives", cell, 1))
redis.call("HDEL", prefix .. "applied", cell)
for _, hash in ipairs({ "left", "left_at", "calls_left", "inserted", "formats", "vouched" }) do redis.call("HDEL", prefix .. hash, cell) end
redis.call("HDEL", prefix .. "clock", "d:" .. cell)
redis.call("SREM", prefix .. "restating", cell)
-- The latest answer of each of its lanes. Names of cells have no colon.
for _, field in ipairs(redis.call("HKEYS", prefix .. "kept")) do
  if string.match(field, "^([^:]*):") == cell then redis.call("HDEL", prefix .. "kept", field) end
end
-- Its leases of credit and of budgets: what its folder still has to charge goes to the operator's list.
local function take_back(set, hash)
  for _, id in ipairs(redis.call("SMEMBERS", set)) do
    local shared = prefix .. hash .. id
    for _, what in ipairs({ "l", "h" }) do
      local had = redis.call("HGET", shared, what .. ":" .. cell)
      if had and had ~= "0" then redis.call("HINCRBY", shared, what, "-" .. had) end
    end
    redis.call("HDEL", shared, "l:" .. cell, "h:" .. cell)
  end
  redis.call("DEL", set)
end
take_back(prefix .. "leases:" .. cell, "credit:")
take_back(prefix .. "budget_leases:" .. cell, "spend:")
-- What it told of its calls, which are over: readers of them are told so for as long as they could have read them (`exchange/74-calls.lua`).
for _, of in ipairs(redis.call("SMEMBERS", prefix .. "calls")) do
  local told = prefix .. "calls:" .. of
  if string.match(of, "^([^:]*):") == cell and redis.call("PTTL", told) == -1 then redis.call("PEXPIRE", told, 600000) end
end
redis.call("DEL", prefix .. "wanted:" .. cell, prefix .. "budget_wanted:" .. cell, prefix .. "slots:" .. cell)
-- Calls that it may have charged and not shared the answers of: their keys are not free for a day. An answer without facts says so;
-- what its folder still has takes its place (`exchange/70-answers.lua`). Conversations are free at once: the next call goes on from the
-- newest version that is known.
for _, id in ipairs(redis.call("SMEMBERS", prefix .. "claims:" .. cell)) do
  local claim = redis.call("HGET", prefix .. "claims", id)
  if claim then
    claim = cmsgpack.unpack(claim)
    if claim[1] == cell and string.sub(id, 1, 2) == "c/" then
      redis.call("HDEL", prefix .. "claims", id)
    elseif claim[1] == cell then
      local ends = now + 25 * 3600000
      redis.call("SET", prefix .. "answer:" .. id, cmsgpack.pack({ claim[3], "", ends }))
      redis.call("ZADD", prefix .. "answer_ends", string.format("%.0f", ends), " " .. id)
      redis.call("HDEL", prefix .. "claims", id)
    end
  end
end
redis.call("DEL", prefix .. "claims:" .. cell)
return 1
