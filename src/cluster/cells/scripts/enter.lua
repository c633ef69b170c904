-- Begins a term where Redis runs as another process than before, and a new life of a cell where it starts.
-- KEYS[1] the dataset's key; ARGV: id, cell, the life of the process or "" where it begins one, oldest and newest format that the
-- process reads and writes, how many replicas it waits for, least and most that it expects of steady time.
-- Returns the term, the cell's life, the version now and the format in which cells write now.
--
-- A life is Redis's time at its start, or one more than the life before it: so a life that a failover has lost has another
-- name than those that follow, and its process may go on if no newer one has started since.
--
-- A replica that was promoted may lack what its master had confirmed, so also a cell that had just begun, with what that leased: nobody
-- knows to wait for it. Until a lease is over that such a cell may have (`unsure_until`, milliseconds of Redis's time) the term grants
-- nothing. Not so where cells wait for replicas: then each lease is behind the beginning of its cell. A master that is restarted on its own
-- append-only file has all that it had confirmed, and has no second replication id, which a promotion alone gives, until the process ends.
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "term", "filling", "format", "shift")
-- A dataset that is being filled is for who fills it.
if not known[1] or (known[3] and known[3] ~= ARGV[2]) then
  return redis.error_reply("WEIREMPTY this Redis holds no installation")
end
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
local time = redis.call("TIME")
-- See `clock.lua`.
local steady = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - tonumber(known[5] or 0)
if steady < tonumber(ARGV[7]) or steady > tonumber(ARGV[8]) then
  return redis.error_reply(
    "WEIRCLOCK it is " .. string.format("%.0f", steady) .. " by Redis's clock, and the cell expects " .. ARGV[7] .. " to " .. ARGV[8]
  )
end
local cell = ARGV[2]
local life = tonumber(redis.call("HGET", prefix .. "lives", cell) or 0)
local retired = tonumber(redis.call("HGET", prefix .. "retired", cell) or 0)
if ARGV[3] == "" then
  life = math.max(life + 1, steady)
elseif tonumber(ARGV[3]) < life or tonumber(ARGV[3]) <= retired then
  return redis.error_reply("WEIRFENCED a newer process runs under this cell's name, or the cell was retired")
else
  life = tonumber(ARGV[3])
end
-- Cells write in the newest format that each of them reads. It rises by beats, and never falls: others may have written in it.
local format = tonumber(known[4] or 1)
if tonumber(ARGV[5]) < format then
  return redis.error_reply(
    "WEIRFORMAT other cells write format " .. format .. ", and this release reads up to " .. ARGV[5] .. ": start theirs"
  )
end
if tonumber(ARGV[4]) > format then
  return redis.error_reply(
    "WEIRFORMAT other cells need format " .. format .. ", and this release writes from " .. ARGV[4]
      .. " on: start the release before this one at all cells first, and retire those that are gone"
  )
end
-- As long as `RETIRE_SILENCE_MS`.
local UNSURE_MS = 35000
local life_text = string.format("%.0f", life)
redis.call("HSET", prefix .. "lives", cell, life_text)
-- One that left comes once more where the reply to its leaving was lost: others must not wait for what it reads.
local left = string.match(redis.call("HGET", prefix .. "left", cell) or "", "^%d+")
if left ~= life_text then redis.call("HSET", prefix .. "formats", cell, ARGV[5]) end
local term = string.match(redis.call("INFO", "server"), "run_id:(%x+)")
if term ~= known[2] then
  redis.call("HSET", KEYS[1], "term", term)
  local second_id = string.match(redis.call("INFO", "replication"), "master_replid2:(%x+)")
  -- A dataset that had no term yet had no cell.
  if known[2] and ARGV[6] == "0" and second_id and string.match(second_id, "[^0]") then
    redis.call("HSET", KEYS[1], "unsure_until", string.format("%.0f", steady + UNSURE_MS))
  end
  redis.call("DEL", prefix .. "ticket", prefix .. "restating")
  local lives = redis.call("HGETALL", prefix .. "lives")
  for i = 1, #lives, 2 do
    local gone = tonumber(redis.call("HGET", prefix .. "retired", lives[i]) or 0)
    -- The life that left with nothing is over; one that began since is another.
    local has_left = redis.call("HGET", prefix .. "left", lives[i]) == lives[i + 1]
    if tonumber(lives[i + 1]) > gone and not has_left then redis.call("SADD", prefix .. "restating", lives[i]) end
  end
end
return { term, life_text, redis.call("HGET", KEYS[1], "version"), tostring(format) }
