-- Conversations, which any cell may go on with. Whoever changes one has claimed its name (`70-answers.lua`), so that each version is made
-- of the one before. The cell that made the newest has it in its folder; its bytes are also here, up to a bound.
--
-- {…}:conversation:<owner>/<id>   number of the newest version and the cell that made it
-- {…}:conversations:<owner>       sorted set: ids of its conversations by the time they end
-- {…}:bytes:c/<owner>/<id>        the newest version
-- {…}:conversation_uses           sorted set: names of those with bytes by when they were changed
-- {…}:conversation_sizes          hash: their bytes
-- {…}:held:c                      sum of these

local function drop_bytes_of(name)
  redis.call("DEL", key("bytes:c/" .. name))
  redis.call("ZREM", key("conversation_uses"), name)
  local size = redis.call("HGET", key("conversation_sizes"), name)
  if size then
    redis.call("HDEL", key("conversation_sizes"), name)
    redis.call("DECRBY", key("held:c"), size)
  end
end

-- Gives up those that were not changed for longest.
local function keep_conversation(name, bytes, ms, most)
  drop_bytes_of(name)
  local counted = decimal(#bytes + ROW_BYTES)
  redis.call("SET", key("bytes:c/" .. name), bytes, "PX", decimal(ms))
  redis.call("ZADD", key("conversation_uses"), decimal(now_ms()), name)
  redis.call("HSET", key("conversation_sizes"), name, counted)
  local held = redis.call("INCRBY", key("held:c"), counted)
  while held > most do
    local oldest = redis.call("ZRANGE", key("conversation_uses"), 0, 0)[1]
    if not oldest then break end
    drop_bytes_of(oldest)
    held = tonumber(redis.call("GET", key("held:c")))
  end
  -- Redis let their bytes expire.
  for _, old in ipairs(redis.call("ZRANGE", key("conversation_uses"), 0, LOOK_ROWS - 1)) do
    if redis.call("EXISTS", key("bytes:c/" .. old)) == 0 then drop_bytes_of(old) end
  end
end

-- { "conversation_new", owner, id, ms, most }: most  conversations of an owner
-- Returns 1; 0 where it has so many already.
operations.conversation_new = function(operation)
  local _, owner, id, ms, most = unpack(operation)
  local of_owner = key("conversations:" .. owner)
  local now = now_ms()
  redis.call("ZREMRANGEBYSCORE", of_owner, 0, decimal(now))
  if redis.call("ZCARD", of_owner) >= most then return { 0 } end
  redis.call("ZADD", of_owner, decimal(now + ms), id)
  if redis.call("PTTL", of_owner) < ms then redis.call("PEXPIRE", of_owner, decimal(ms)) end
  return { 1 }
end

-- { "conversation", owner, id, claim, version, ms, blob, most }: ends the claim of this cell.
--   claim  the name that was claimed
--   ms     until it ends
--   blob   0 where the bytes are not kept here
--   most   bytes of all conversations
-- Returns 1 and the other cell that had the version before, or ""; 0 where a newer one is known.
operations.conversation = function(operation)
  local _, owner, id, claim, version, ms, blob_number, most = unpack(operation)
  local name = owner .. "/" .. id
  local known = redis.call("GET", key("conversation:" .. name))
  local before, before_cell
  if known then before, before_cell = string.match(known, "^(%d+) (.*)$") end
  if before and tonumber(before) >= version then return { 0 } end
  local cell = claim_of(claim)
  if cell == CELL then end_claim(claim, CELL) end
  redis.call("SET", key("conversation:" .. name), decimal(version) .. " " .. CELL, "PX", decimal(ms))
  local of_owner = key("conversations:" .. owner)
  redis.call("ZADD", of_owner, decimal(now_ms() + ms), id)
  if redis.call("PTTL", of_owner) < ms then redis.call("PEXPIRE", of_owner, decimal(ms)) end
  local bytes = blob(blob_number)
  if bytes then keep_conversation(name, bytes, ms, most) else drop_bytes_of(name) end
  return { 1, before_cell and before_cell ~= CELL and before_cell or "" }
end

local function drop_conversation(owner, id)
  drop_bytes_of(owner .. "/" .. id)
  redis.call("DEL", key("conversation:" .. owner .. "/" .. id))
  redis.call("ZREM", key("conversations:" .. owner), id)
end

-- { "forget_conversation", owner, id }
operations.forget_conversation = function(operation)
  drop_conversation(operation[2], operation[3])
  return {}
end

-- { "forget_conversations", owner, most }: returns whether more of the owner's are left.
operations.forget_conversations = function(operation)
  local owner = operation[2]
  local of_owner = key("conversations:" .. owner)
  for _, id in ipairs(redis.call("ZRANGE", of_owner, 0, decimal(operation[3] - 1))) do drop_conversation(owner, id) end
  return { redis.call("EXISTS", of_owner) }
end
