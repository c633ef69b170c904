-- Answers that any cell may give: to repeated Idempotency-Keys, and stored responses.
--
-- {…}:claims                   hash: id of a key -> cell, life, fingerprint, request id (MessagePack): a call that answers it is under
--                              way; a release before did not write the request id
-- {…}:claims:<cell>            set: ids that the cell claimed
-- {…}:sent                     hash: cell -> its life that has sent all that earlier ones kept: what is not here now will never be
-- {…}:answer:<id>              fingerprint and facts of the answer to a key, and when it is forgotten (MessagePack)
-- {…}:answer_ends              sorted set: "org id" of answers by when they are forgotten
-- {…}:answers:<org>            sorted set: ids of its answers by the time they were kept
-- {…}:answer_hours             hash: hour -> answers kept in it
-- {…}:response:<owner>/<id>    ids of the items of a stored response (MessagePack)
-- {…}:responses:<owner>        sorted set: ids of its responses by the time they end
-- {…}:item:<owner>/<item>      id of the response that has the item
-- {…}:bytes:a/<id>, {…}:bytes:r/<owner>/<id>  the answer, the response
-- {…}:queue:a, {…}:queue:r     list: bytes that count, name of the row in `bytes`; oldest first
-- {…}:held:a, {…}:held:r       sum of the bytes that the queue counts
--
-- A claim has no expiry, and an answer none in Redis: that would follow a clock that may be set, and a key that is free too early is a
-- call that is charged twice. What is behind `bytes` is given up for newer ones past a bound. Of an answer its row stays, so that its
-- key is never free before its time; a response goes as a whole.

local ANSWER_MS = 25 * 3600000
local HOUR_MS = 3600000
-- What Redis takes for a row besides its bytes, about.
local ROW_BYTES = 300
-- Rows in front of a queue that are looked at with each new one, and answers that are forgotten with each new one.
local LOOK_ROWS = 10

local function end_claim(id, cell)
  redis.call("HDEL", key("claims"), id)
  redis.call("SREM", key("claims:" .. cell), id)
end

local function claim_of(id)
  local found = redis.call("HGET", key("claims"), id)
  if not found then return nil end
  return unpack(cmsgpack.unpack(found))
end

-- Fingerprint and facts of the answer to a key; nothing where there is none any more.
local function answer_of(id)
  local found = redis.call("GET", key("answer:" .. id))
  if not found then return nil end
  local fingerprint, facts, ends = unpack(cmsgpack.unpack(found))
  -- A release before this one let Redis forget them.
  if ends and ends <= now_ms() then return nil end
  return fingerprint, facts
end

-- Forgets some of the answers whose time has come.
local function forget_ended()
  local ended = redis.call("ZRANGEBYSCORE", key("answer_ends"), 0, decimal(now_ms()), "LIMIT", 0, LOOK_ROWS)
  for _, member in ipairs(ended) do
    local org, id = string.match(member, "^([^ ]*) (.*)$")
    redis.call("ZREM", key("answer_ends"), member)
    -- The key may have been answered again.
    if not answer_of(id) then redis.call("DEL", key("answer:" .. id), key("bytes:a/" .. id)) end
    if org ~= "" then redis.call("ZREM", key("answers:" .. org), id) end
  end
end

local function drop_response(name)
  local items = redis.call("GET", key("response:" .. name))
  local owner, id = string.match(name, "^([^/]*)/(.*)$")
  if items then
    for _, item in ipairs(cmsgpack.unpack(items)) do redis.call("DEL", key("item:" .. owner .. "/" .. item)) end
  end
  redis.call("DEL", key("response:" .. name), key("bytes:r/" .. name))
  redis.call("ZREM", key("responses:" .. owner), id)
end

local function give_up(name)
  local kind, rest = string.match(name, "^([ar])/(.*)$")
  if kind == "r" then drop_response(rest) else redis.call("DEL", key("bytes:" .. name)) end
end

-- Keeps bytes for a time, and gives the oldest of the kind up where they are more than `most`.
local function keep_bytes(name, bytes, counted, ms, most)
  local kind = string.sub(name, 1, 1)
  local queue, held_key = key("queue:" .. kind), key("held:" .. kind)
  redis.call("SET", key("bytes:" .. name), bytes, "PX", decimal(ms))
  redis.call("RPUSH", queue, decimal(counted) .. " " .. name)
  local held = redis.call("INCRBY", held_key, decimal(counted))
  local looks = LOOK_ROWS
  while true do
    local oldest = redis.call("LINDEX", queue, 0)
    if not oldest then return end
    local size, of = string.match(oldest, "^(%d+) (.*)$")
    local is_over = redis.call("EXISTS", key("bytes:" .. of)) == 0
    if not (held > most or (is_over and looks > 0)) then return end
    if not is_over then give_up(of) end
    redis.call("LPOP", queue)
    held = redis.call("DECRBY", held_key, size)
    looks = looks - 1
  end
end

-- Answers of the last hours; counted once in an exchange.
local answers_known
local function answers_now()
  if answers_known then return answers_known end
  answers_known = 0
  local first = math.floor((now_ms() - ANSWER_MS) / HOUR_MS)
  local hours = redis.call("HGETALL", key("answer_hours"))
  for i = 1, #hours, 2 do
    if tonumber(hours[i]) < first then redis.call("HDEL", key("answer_hours"), hours[i])
    else answers_known = answers_known + tonumber(hours[i + 1]) end
  end
  return answers_known
end

-- { "claim", id, fingerprint, most, request }: most  answers of all cells, beyond which no key can be claimed
-- Returns 1 where this cell is to answer the key; 2, fingerprint, facts and whether there are bytes: it was answered;
-- 0, fingerprint, request id or "", cell: a call is under way; 3: it cannot be known until all cells have restated; 4: too many answers are kept.
operations.claim = function(operation)
  local _, id, fingerprint, most, request = unpack(operation)
  local of, facts = answer_of(id)
  if of then
    return { 2, of, facts, redis.call("EXISTS", key("bytes:a/" .. id)) }
  end
  local claimed = redis.call("HGET", key("claims"), id)
  if claimed then
    local claim = cmsgpack.unpack(claimed)
    return { 0, claim[3], claim[4] or "", claim[1] }
  end
  if is_awaiting() then return { 3 } end
  if answers_now() >= most then return { 4 } end
  redis.call("HSET", key("claims"), id, cmsgpack.pack({ CELL, LIFE, fingerprint, request }))
  redis.call("SADD", key("claims:" .. CELL), id)
  return { 1 }
end

-- { "unclaim", id }: the call ended without an answer that is kept.
operations.unclaim = function(operation)
  local cell, life = claim_of(operation[2])
  if cell == CELL and life == LIFE then end_claim(operation[2], CELL) end
  return {}
end

-- { "unclaim_any", id }: of any life of this cell: what it answered is not kept any more.
operations.unclaim_any = function(operation)
  local cell = claim_of(operation[2])
  if cell == CELL then end_claim(operation[2], CELL) end
  return {}
end

-- { "claims_mine", { id, fingerprint, request, … } }: in a new term; a failover may have lost some.
operations.claims_mine = function(operation)
  local claims = operation[2]
  for i = 1, #claims, 3 do
    local id = claims[i]
    if not claim_of(id) and not answer_of(id) then
      redis.call("HSET", key("claims"), id, cmsgpack.pack({ CELL, LIFE, claims[i + 1], claims[i + 2] }))
      redis.call("SADD", key("claims:" .. CELL), id)
    end
  end
  return {}
end

-- { "claims_over" }: all that earlier lives of this cell answered is here: their other claims end.
operations.claims_over = function()
  for _, id in ipairs(redis.call("SMEMBERS", key("claims:" .. CELL))) do
    local cell, life = claim_of(id)
    if cell ~= CELL then redis.call("SREM", key("claims:" .. CELL), id)
    elseif life ~= LIFE then end_claim(id, CELL) end
  end
  redis.call("HSET", key("sent"), CELL, LIFE)
  return {}
end

-- { "answer", id, org, fingerprint, facts, ms, blob, most }: ends the claim of this cell.
--   ms    until it is forgotten
--   blob  0 where the bytes are not kept
--   most  bytes of all answers
-- Returns 1; 0 where another cell has claimed or answered the key.
operations.answer = function(operation)
  local _, id, org, fingerprint, facts, ms, blob_number, most = unpack(operation)
  local cell = claim_of(id)
  if cell and cell ~= CELL then return { 0 } end
  if cell then end_claim(id, CELL) end
  local of, old_facts = answer_of(id)
  -- What the retirement of this cell put in its place has no facts.
  if of and (old_facts ~= "" or of ~= fingerprint) then return { 0 } end
  forget_ended()
  local now = now_ms()
  -- It may have been made hours ago, and waited for Redis, or for cells.
  local made = math.min(now, now + ms - ANSWER_MS)
  redis.call("SET", key("answer:" .. id), cmsgpack.pack({ fingerprint, facts, now + ms }))
  redis.call("ZADD", key("answer_ends"), decimal(now + ms), org .. " " .. id)
  redis.call("HINCRBY", key("answer_hours"), decimal(math.floor(made / HOUR_MS)), 1)
  local of_org = key("answers:" .. org)
  redis.call("ZREMRANGEBYSCORE", of_org, 0, decimal(now - ANSWER_MS))
  redis.call("ZADD", of_org, decimal(made), id)
  -- A release before this one let Redis forget it.
  redis.call("PERSIST", of_org)
  local bytes = blob(blob_number)
  if bytes then keep_bytes("a/" .. id, bytes, #bytes + ROW_BYTES, ms, most) end
  return { 1 }
end

-- { "forget_answers", org, most }: returns whether more of the org's are left.
operations.forget_answers = function(operation)
  local of_org = key("answers:" .. operation[2])
  for _, id in ipairs(redis.call("ZRANGE", of_org, 0, decimal(operation[3] - 1))) do
    redis.call("DEL", key("answer:" .. id), key("bytes:a/" .. id))
    redis.call("ZREM", of_org, id)
    redis.call("ZREM", key("answer_ends"), operation[2] .. " " .. id)
  end
  return { redis.call("EXISTS", of_org) }
end

-- Bytes that a response counts in its queue.
local function counted_of(bytes, items)
  local counted = bytes + ROW_BYTES
  for _, item in ipairs(items) do counted = counted + #item * 2 + ROW_BYTES end
  return counted
end

-- Forgets the state of a response that another takes the place of: its row in the queue is near the end, mostly.
local function replace_response(name)
  local items = redis.call("GET", key("response:" .. name))
  if not items then return end
  local counted = counted_of(redis.call("STRLEN", key("bytes:r/" .. name)), cmsgpack.unpack(items))
  if redis.call("LREM", key("queue:r"), -1, decimal(counted) .. " r/" .. name) == 1 then
    redis.call("DECRBY", key("held:r"), decimal(counted))
  end
  drop_response(name)
end

-- { "response", owner, id, items, ms, blob, most }: as of `answer`. Each is sent by the cell that stored it alone, in its order.
operations.response = function(operation)
  local _, owner, id, items, ms, blob_number, most = unpack(operation)
  local name = owner .. "/" .. id
  replace_response(name)
  redis.call("SET", key("response:" .. name), cmsgpack.pack(items), "PX", decimal(ms))
  for _, item in ipairs(items) do
    redis.call("SET", key("item:" .. owner .. "/" .. item), id, "PX", decimal(ms))
  end
  local now = now_ms()
  local of_owner = key("responses:" .. owner)
  redis.call("ZREMRANGEBYSCORE", of_owner, 0, decimal(now))
  redis.call("ZADD", of_owner, decimal(now + ms), id)
  if redis.call("PTTL", of_owner) < ms then redis.call("PEXPIRE", of_owner, decimal(ms)) end
  local bytes = blob(blob_number)
  keep_bytes("r/" .. name, bytes, counted_of(#bytes, items), ms, most)
  return {}
end

-- { "forget_response", owner, id }
operations.forget_response = function(operation)
  drop_response(operation[2] .. "/" .. operation[3])
  return {}
end

-- { "forget_responses", owner, most }: returns whether more of the owner's are left.
operations.forget_responses = function(operation)
  local owner = operation[2]
  local of_owner = key("responses:" .. owner)
  for _, id in ipairs(redis.call("ZRANGE", of_owner, 0, decimal(operation[3] - 1))) do drop_response(owner .. "/" .. id) end
  return { redis.call("EXISTS", of_owner) }
end
