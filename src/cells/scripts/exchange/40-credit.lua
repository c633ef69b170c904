-- Credit: each org's balance, and the leases of it that cells have. A cell admits calls within its lease alone, so all cells
-- together never admit more than the balance. All amounts are micro-USD, whole and below 2^53.
--
-- {…}:credit:<org>      hash: b balance, n number of the newest ledger entry, l sum of all leases, h sum of all holds;
--                       l:<cell> lease of a cell; h:<cell> what of it the cell's open holds and unsent charges take, as it last said
-- {…}:leases:<cell>     set: orgs of which the cell has a lease or holds
-- {…}:wanted:<cell>     set: orgs whose idle credit the cell is asked to give back
-- {…}:settled           hash: cell -> row before its latest batch of charges, last row of it, a mark of that row, its answer
--
-- Free is the balance without all leases. It is below zero where an upstream reported more than was held.

local GRANTED, NONE, ELSEWHERE, RESTATING = 0, 1, 2, 3
local WANTED_TOLD = 200

local function credit_key(org) return key("credit:" .. org) end

local function credit_of(org, cell)
  local found = redis.call("HMGET", credit_key(org), "b", "n", "l", "h", "l:" .. cell, "h:" .. cell)
  for i = 1, 6 do found[i] = tonumber(found[i] or 0) end
  return unpack(found)
end

-- Asks every cell that seems to have idle credit of the org to give it back. Returns whether there is one.
local function want(org)
  local leases, holds, has_idle = {}, {}, false
  local all = redis.call("HGETALL", credit_key(org))
  for i = 1, #all, 2 do
    local what, cell = string.match(all[i], "^([lh]):(.+)$")
    if what == "l" then leases[cell] = tonumber(all[i + 1]) end
    if what == "h" then holds[cell] = tonumber(all[i + 1]) end
  end
  for cell, lease in pairs(leases) do
    if lease > (holds[cell] or 0) then
      has_idle = true
      redis.call("SADD", key("wanted:" .. cell), org)
    end
  end
  return has_idle
end

-- Writes what one cell has of an org, and the sums. `more`: other fields and values of the org, or nothing.
local function write_lease(org, cell, leases, holds, lease, held, was_known, more)
  local fields = more or {}
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = decimal(value)
  end
  add("l", leases)
  add("h", holds)
  local is_known = lease ~= 0 or held ~= 0
  if is_known then
    add("l:" .. cell, lease)
    add("h:" .. cell, held)
  end
  redis.call("HSET", credit_key(org), unpack(fields))
  if is_known and not was_known then redis.call("SADD", key("leases:" .. cell), org) end
  if was_known and not is_known then
    redis.call("HDEL", credit_key(org), "l:" .. cell, "h:" .. cell)
    redis.call("SREM", key("leases:" .. cell), org)
  end
end

-- One org's part of an exchange. `held` is what the cell's lease must cover after these charges; `need` what its next call
-- takes beyond that, -1 for none.
-- Returns number of the first charge (0: none), balance before, lease, balance, free, available (balance without all holds, as last
-- said), and an outcome: for a need that the lease does not cover, why.
local function exchange_credit(org, count, sum, held, target, need, is_restating)
  local balance, seq, leases, holds, lease, held_before = credit_of(org, CELL)
  local before, first, lease_before, more = balance, 0, lease, nil
  if count > 0 then
    first = seq + 1
    balance = balance - sum
    local covered = math.min(sum, lease)
    lease = lease - covered
    leases = leases - covered
    more = { "b", decimal(balance), "n", decimal(seq + count) }
  end
  local most = lease + balance - leases
  if is_restating then most = math.min(most, lease) end
  local granted = math.min(math.max(target, held), most)
  -- Less than the next call needs helps nobody: the rest of a balance goes to a call that it covers.
  if need >= 0 and granted > lease and granted - held < need then granted = lease end
  granted = math.max(granted, math.min(held, lease), 0)
  leases = leases - lease + granted
  holds = holds - held_before + held
  if more or granted ~= lease_before or held ~= held_before then
    local was_known = lease_before ~= 0 or held_before ~= 0
    write_lease(org, CELL, leases, holds, granted, held, was_known, more)
  end
  local outcome = GRANTED
  if need >= 0 and granted - held < need then
    if is_restating then
      outcome = RESTATING
    elseif balance - holds < need then
      outcome = NONE
    else
      outcome = ELSEWHERE
      want(org)
    end
  end
  return first, before, granted, balance, balance - leases, balance - holds, outcome
end

local function settled_of(cell)
  local kept = redis.call("HGET", key("settled"), cell)
  if kept then return unpack(cmsgpack.unpack(kept)) end
  return 0, 0, "", {}
end

-- { "credit", after, last, mark, orgs }: charges of the cell's log after row `after` up to `last`, whose mark is `mark` (both equal: there
-- are none), and what the cell wants of each org: a flat list of { org, count, sum, held, target, need }.
-- Returns 1, a flat list of what `exchange_credit` returns for each, and orgs of which the cell is asked to give idle credit back;
-- or 0 and the last row that is in, with nothing changed, where that is not `after`.
operations.credit = function(operation)
  local after, last, mark, orgs = operation[2], operation[3], operation[4], operation[5]
  local has_charges = last > after
  if has_charges then
    local _, last_in = settled_of(CELL)
    if last_in ~= after then return { 0, last_in } end
  end
  local is_restating = redis.call("EXISTS", key("restating")) == 1
  local answers, numbered = {}, {}
  for i = 1, #orgs, 6 do
    local org = orgs[i]
    local first, before, lease, balance, free, available, outcome =
      exchange_credit(org, orgs[i + 1], orgs[i + 2], orgs[i + 3], orgs[i + 4], orgs[i + 5], is_restating)
    for _, value in ipairs({ first, before, lease, balance, free, available, outcome }) do
      answers[#answers + 1] = value
    end
    if first > 0 then
      numbered[#numbered + 1] = org
      numbered[#numbered + 1] = first
      numbered[#numbered + 1] = before
    end
  end
  if has_charges then
    redis.call("HSET", key("settled"), CELL, cmsgpack.pack({ after, last, mark, numbered }))
  end
  return { 1, answers, redis.call("SPOP", key("wanted:" .. CELL), WANTED_TOLD) }
end

-- { "credit_position" }: what a new process of the cell must know: the row before the latest batch that is in, its last row, the mark of
-- that, a flat list of { org, first number, balance before }, and the newest life of the cell that was retired.
operations.credit_position = function()
  local after, last, mark, numbered = settled_of(CELL)
  return { after, last, mark, numbered, tonumber(redis.call("HGET", key("retired"), CELL) or 0) }
end

-- { "credit_skip", after, last, mark }: rows of the cell's log that are not charged, because the life that wrote them was retired.
operations.credit_skip = function(operation)
  local _, last_in = settled_of(CELL)
  if last_in ~= operation[2] then return { 0, last_in } end
  redis.call("HSET", key("settled"), CELL, cmsgpack.pack({ operation[2], operation[3], operation[4], {} }))
  return { 1 }
end

-- { "credit_return", count }: gives back what the cell's former life had leased, of so many orgs; only before it leases anything.
-- Returns how many orgs are left.
operations.credit_return = function(operation)
  local name = key("leases:" .. CELL)
  for _, org in ipairs(redis.call("SRANDMEMBER", name, operation[2])) do
    local _, _, leases, holds, lease, held = credit_of(org, CELL)
    write_lease(org, CELL, leases - lease, holds - held, 0, 0, true)
  end
  redis.call("DEL", key("wanted:" .. CELL))
  return { redis.call("SCARD", name) }
end

-- { "credit_restate", row, leases }: what the cell knows to be confirmed: the last row of its log that is in, and a flat list of org
-- and lease. A dataset that lost its last writes sets these aside again, before any lease may grow.
-- Returns the last row that is in.
operations.credit_restate = function(operation)
  local _, last_in = settled_of(CELL)
  local stated = operation[3]
  for i = 1, #stated, 2 do
    local _, _, leases, holds, lease, held = credit_of(stated[i], CELL)
    if stated[i + 1] > lease then
      local was_known = lease ~= 0 or held ~= 0
      write_lease(stated[i], CELL, leases - lease + stated[i + 1], holds, stated[i + 1], held, was_known)
    end
  end
  return { last_in }
end

-- { "credit_funds", org }: number of the newest entry, balance, sum of all holds as last said, sum of all leases.
operations.credit_funds = function(operation)
  local balance, seq, leases, holds = credit_of(operation[2], CELL)
  return { seq, balance, holds, leases }
end

-- { "credit_begin", orgs }: balances a dataset begins with: a flat list of org, number of its newest entry, balance. What is there stays.
operations.credit_begin = function(operation)
  local orgs = operation[2]
  for i = 1, #orgs, 3 do
    if redis.call("EXISTS", credit_key(orgs[i])) == 0 then
      redis.call("HSET", credit_key(orgs[i]), "n", decimal(orgs[i + 1]), "b", decimal(orgs[i + 2]))
    end
  end
  return {}
end

-- For acts: adds `amount` to an org's balance as its next entry; call it once all that could refuse the act was checked.
-- `may_overdraw`: 0 only what no hold takes may go · 1 also more, once no cell has idle credit of the org · 2 at once, whatever is leased.
-- Returns "posted", number and balance; or, with nothing changed, "recall" (cells were asked to give idle credit back: try again in
-- a moment), or "insufficient" and what is available.
local function post_credit(org, amount, may_overdraw)
  local balance, seq, leases, holds = credit_of(org, CELL)
  if amount < 0 and balance - leases < -amount and may_overdraw < 2 then
    if may_overdraw == 0 and balance - holds < -amount then return "insufficient", balance - holds end
    if want(org) or may_overdraw == 0 then return "recall" end
  end
  redis.call("HSET", credit_key(org), "n", decimal(seq + 1), "b", decimal(balance + amount))
  return "posted", seq + 1, balance + amount
end

-- { "credit_post", org, amount, may_overdraw }: a posting without an act.
operations.credit_post = function(operation)
  local outcome, first, balance = post_credit(operation[2], operation[3], operation[4])
  return { outcome, first or 0, balance or 0 }
end
