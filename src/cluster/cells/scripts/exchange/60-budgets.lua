-- Spend of keys, projects and orgs over all cells, and the leases of hard budgets that cells have. A cell admits calls within its lease
-- alone, so all cells together never spend more than the budget. Spend is counted by the exchange that brings the charge: once.
--
-- {…}:spend:<scope>            hash. A scope is "k:" and the first key of a lineage, "p:" and a project, or "o:" and an org.
--                              d newest day "YYYY-MM-DD", of the org's time zone; t spent on it; m spent in its month;
--                              v "day, its start, its month's start, clock_changes" by which t and m were counted;
--                              n "day, time, sum, t, m" of the newest part, and t and m when it was written; p the older parts;
--                              l, h, l:<cell>, h:<cell> as an org's credit has them, of its hard budget;
--                              j of a later key of a lineage: "d t m" as they were when they were added to the lineage's row;
--                              of an org: u the usual of a day; w the newest day that was told as unusual
-- {…}:spend_rows               sorted set: scopes by the steady time at which their newest day began
-- {…}:budget_leases:<cell>     set: scopes of which the cell has a lease or holds
-- {…}:budget_wanted:<cell>     set: scopes whose idle lease the cell is asked to give back
--
-- A key's budget is of a day, the others are of a month. A part is what was charged on one day in one span of the clock, with the steady
-- time of its last charge: so days and months are counted anew when all clocks are set or put right (`clock.lua`), and what was spent on a
-- day stays spent. A lease is of no day: it counts until the cell has said what it holds.

local SCOPE_VALUES = 16
-- A cell whose time is ahead of Redis's by more does not begin a day.
local EARLY_MS = 1000
-- A charge so shortly before a day's beginning, and named as of that day, is of a cell whose time is a little behind.
local LATE_MS = 5000
local DAY_MS = 86400000
-- Without a charge for so long nothing is spent in any period.
local SPEND_KEPT_MS = 40 * DAY_MS
-- With fewer days of spend among the last seven nothing is usual.
local LEAST_DAYS = 3
-- Only settings of clocks make more parts than the days that are kept; more are joined by days.
local MOST_PARTS = 80
-- Rows that are looked at with each day that begins, whether they can be forgotten.
local OLD_ROWS = 4

local function spend_key(scope) return key("spend:" .. scope) end

local function month_of(day) return string.sub(day, 1, 7) end

local function spend_of(scope, cell)
  local found = redis.call("HMGET", spend_key(scope), "d", "t", "m", "u", "l", "h", "l:" .. cell, "h:" .. cell, "v", "n")
  local numbers = {}
  for i = 2, 8 do numbers[i] = tonumber(found[i] or 0) end
  local spend = {
    scope = scope, kind = string.sub(scope, 1, 1), day = found[1] or "", starts = 0, month_starts = 0, changes = -1,
    today = numbers[2], month = numbers[3], usual = numbers[4],
    leases = numbers[5], holds = numbers[6], lease = numbers[7], held = numbers[8],
  }
  local day, starts, month_starts, changes = string.match(found[9] or "", "^([^ ]+) (%d+) (%d+) (%d+)$")
  if day == spend.day then
    spend.starts, spend.month_starts, spend.changes = tonumber(starts), tonumber(month_starts), tonumber(changes)
    local of, at, sum, then_today, then_month = string.match(found[10] or "", "^([^ ]+) (%d+) (%d+) (%d+) (%d+)$")
    if of then spend.newest = { of, tonumber(at), tonumber(sum) } end
    -- What a release before this one has added.
    spend.unplaced = spend.today - tonumber(then_today or 0)
    spend.unplaced_before = spend.month - tonumber(then_month or 0) - spend.unplaced
  end
  return spend
end

-- Older parts, oldest first: flat list of day, steady time of the last charge, sum.
local function parts_of(spend)
  if not spend.parts then
    local kept = redis.call("HGET", spend_key(spend.scope), "p")
    spend.parts = kept and cmsgpack.unpack(kept) or {}
  end
  return spend.parts
end

-- Whether two charges that are named as of the same day may be one part. What was charged while clocks were ahead has the name of a day that
-- comes later, and lies before it once they are put right.
local function are_of_one_part(spend, at, other)
  if clock_changes == 0 then return true end
  local function days_from(steady) return math.floor((wall_of(steady) - spend.starts) / DAY_MS) end
  return span_of(at) == span_of(other) and days_from(at) == days_from(other)
end

-- Makes one part of neighbours that are of one day: which of them was charged while clocks were wrong is not known any more.
local function join_days(parts)
  for i = #parts - 2, 4, -3 do
    if parts[i] == parts[i - 3] then
      parts[i - 2], parts[i - 1] = math.max(parts[i - 2], parts[i + 1]), parts[i - 1] + parts[i + 2]
      for _ = 1, 3 do table.remove(parts, i) end
    end
  end
end

local function add_to_older(spend, day, at, sum)
  local parts = parts_of(spend)
  if sum == 0 then return end
  spend.has_moved = true
  for i = 1, #parts, 3 do
    if parts[i] == day and are_of_one_part(spend, parts[i + 1], at) then
      parts[i + 1], parts[i + 2] = math.max(parts[i + 1], at), parts[i + 2] + sum
      return
    end
  end
  for _, value in ipairs({ day, at, sum }) do parts[#parts + 1] = value end
  while #parts > 0 and parts[2] < now_ms() - SPEND_KEPT_MS do
    for _ = 1, 3 do table.remove(parts, 1) end
  end
  if #parts > 3 * MOST_PARTS then join_days(parts) end
end

local function add_part(spend, day, at, sum)
  local newest = spend.newest
  if newest and newest[1] == day and are_of_one_part(spend, newest[2], at) then
    newest[2], newest[3] = math.max(newest[2], at), newest[3] + sum
  elseif newest and (day < newest[1] or at < newest[2]) then
    add_to_older(spend, day, at, sum)
  else
    if newest then add_to_older(spend, unpack(newest)) end
    spend.newest = { day, at, sum }
  end
end

-- Makes parts of the sums of days, which a dataset begins with and a release before this one wrote. `starts`, `month_starts`: of `day`.
local function place_sums(spend, day, starts, month_starts)
  spend.parts, spend.newest, spend.has_moved, spend.was_placed = {}, nil, true, true
  -- On the first day of a month, by a cell that is behind, what is earlier counts as of that day.
  local earlier, before = math.max(starts - 1, month_starts) - shift, month_starts - 1 - shift
  local function time_of(of) return month_of(of) == month_of(day) and earlier or before end
  local rest = spend.month - spend.today
  local all = redis.call("HGETALL", spend_key(spend.scope))
  for i = 1, #all, 2 do
    local of = string.match(all[i], "^s:(.+)$")
    if of and of < spend.day then
      add_to_older(spend, of, time_of(of), tonumber(all[i + 1]))
      if month_of(of) == month_of(spend.day) then rest = rest - tonumber(all[i + 1]) end
    end
  end
  if rest > 0 then add_to_older(spend, month_of(spend.day) .. "-00", time_of(spend.day), rest) end
  if spend.day < day then add_to_older(spend, spend.day, time_of(spend.day), spend.today) end
  -- A row without a newest part would not say which of its sums are in the parts.
  spend.newest = spend.day < day and { day, now_ms(), 0 } or { spend.day, now_ms(), spend.today }
end

-- Counts the parts by a day and its month.
local function count_parts(spend, day, starts, month_starts)
  spend.today, spend.month = 0, 0
  local function count(at, sum)
    local wall = wall_of(at)
    if wall >= starts then spend.today = spend.today + sum end
    if wall >= month_starts then spend.month = spend.month + sum end
  end
  local parts = parts_of(spend)
  for i = 1, #parts, 3 do count(parts[i + 1], parts[i + 2]) end
  if spend.newest then count(spend.newest[2], spend.newest[3]) end
  spend.day, spend.starts, spend.month_starts, spend.changes = day, starts, month_starts, clock_changes
end

-- The mean of the days from `first` on before the newest one that had any spend; 0 where they are fewer than three.
local function usual_of(spend, first)
  local is_counted, sum, days = {}, 0, 0
  local function count(day, _, of_part)
    if day < first or day >= spend.day or of_part == 0 then return end
    if not is_counted[day] then days = days + 1 end
    is_counted[day] = true
    sum = sum + of_part
  end
  local parts = parts_of(spend)
  for i = 1, #parts, 3 do count(parts[i], parts[i + 1], parts[i + 2]) end
  if spend.newest then count(unpack(spend.newest)) end
  if days < LEAST_DAYS then return 0 end
  return math.floor(sum / days + 0.5)
end

-- The spend by the day of the cell, or by a newer one that another cell has begun: a day goes back only with the clock.
local function turn_to(spend, day, starts, month_starts, now)
  local is_known = spend.starts > 0
  if is_known and spend.unplaced > 0 then add_part(spend, spend.day, now_ms(), spend.unplaced) end
  if is_known and spend.unplaced_before > 0 then
    local at = math.max(spend.starts - 1, spend.month_starts) - shift
    add_to_older(spend, month_of(spend.day) .. "-00", at, spend.unplaced_before)
  end
  if not is_known and spend.day ~= "" then place_sums(spend, day, starts, month_starts) end
  local is_newer = starts > spend.starts and starts <= now + EARLY_MS
  local is_set_back = spend.starts > now + EARLY_MS
  if not is_known or is_newer or is_set_back then
    spend.has_begun = true
    count_parts(spend, day, starts, month_starts)
  elseif spend.changes ~= clock_changes then
    spend.has_begun = true
    count_parts(spend, spend.day, spend.starts, spend.month_starts)
  end
end

-- Counts a sum of charges that are named as of `day`, the last of them at steady time `at`, 0 if that is unknown. Returns what was added to
-- the period of the scope's budget.
local function count_spend(spend, sum, day, at, first)
  if sum == 0 then return 0 end
  local starts, month_starts = spend.starts, spend.month_starts
  if at == 0 then
    at = day >= spend.day and now_ms() or (month_of(day) == month_of(spend.day) and starts or month_starts) - 1 - shift
  end
  at = math.min(at, now_ms())
  local wall = wall_of(at)
  if day >= spend.day and wall < starts and wall >= starts - LATE_MS then at, wall = starts - shift, starts end
  add_part(spend, day, at, sum)
  if wall >= starts then spend.today = spend.today + sum end
  if wall >= month_starts then spend.month = spend.month + sum end
  if spend.kind == "o" and wall < starts then spend.usual, spend.has_begun = usual_of(spend, first), true end
  if spend.kind == "k" then return wall >= starts and sum or 0 end
  return wall >= month_starts and sum or 0
end

-- Notes that a day of the scope has begun, and forgets some of those that were charged nothing for long. Redis's own expiry would follow a
-- clock that may be set, and open a budget that is spent.
local function note_spend(scope)
  local rows = key("spend_rows")
  -- A release before this one had Redis forget the row.
  redis.call("PERSIST", spend_key(scope))
  redis.call("ZADD", rows, decimal(now_ms()), scope)
  for _, old in ipairs(redis.call("ZRANGEBYSCORE", rows, 0, decimal(now_ms() - SPEND_KEPT_MS), "LIMIT", 0, OLD_ROWS)) do
    local shared = redis.call("HMGET", spend_key(old), "l", "h")
    if tonumber(shared[1] or 0) == 0 and tonumber(shared[2] or 0) == 0 then
      redis.call("DEL", spend_key(old))
      redis.call("ZREM", rows, old)
    else
      redis.call("ZADD", rows, decimal(now_ms()), old)
    end
  end
end

-- Fields and values of the row, as far as charges and days change them.
local function spend_fields(spend)
  local fields = { "d", spend.day, "t", decimal(spend.today), "m", decimal(spend.month) }
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  add("v", spend.day .. " " .. decimal(spend.starts) .. " " .. decimal(spend.month_starts) .. " " .. decimal(spend.changes))
  local newest = spend.newest
  if newest then
    add("n", newest[1] .. " " .. decimal(newest[2]) .. " " .. decimal(newest[3]) .. " " .. decimal(spend.today) .. " " .. decimal(spend.month))
  end
  if spend.has_moved then add("p", cmsgpack.pack(spend.parts)) end
  if spend.kind == "o" then add("u", decimal(spend.usual)) end
  return fields
end

-- What a release before this one wrote is in the parts now.
local function end_sums(spend)
  local name = spend_key(spend.scope)
  for _, field in ipairs(redis.call("HKEYS", name)) do
    if string.sub(field, 1, 2) == "s:" then redis.call("HDEL", name, field) end
  end
end

-- One scope's part of an exchange:
--   day, starts, month_starts   today, and when it and its month began, milliseconds
--   sum, sum_day, sum_at   of charges; the day that they are named as of; steady time of the last of them, 0 if unknown
--   held, target, need   as `exchange_credit` has them, of the hard budget
--   hard, soft     the budget, 0 for none; `ends`: of its period, milliseconds
--   pct, first, day_ends   of an org: by how many percent a day exceeds the usual that is to be told, -1 for none; the day seven days
--                  before; the day's end
-- Returns lease, free, available, outcome, spent in the period, sum of all holds and the newest day. Adds to `crossed` what was crossed:
-- scope, limit, spent, usual (-1: a soft budget), percent, end of the period, day.
local function exchange_budget(part, now, is_restating, crossed)
  local scope, day, starts, month_starts, sum, sum_day, sum_at, held, target, need, hard, soft, ends, pct, first, day_ends =
    unpack(part)
  local spend = spend_of(scope, CELL)
  if spend.day ~= "" or sum > 0 or hard > 0 then turn_to(spend, day, starts, month_starts, now) end
  if spend.has_begun and spend.kind == "o" then spend.usual = usual_of(spend, first) end
  local counted = count_spend(spend, sum, sum_day, sum_at, first)
  local spent = spend.kind == "k" and spend.today or spend.month
  if soft > 0 and spent > soft and spent - counted <= soft then
    for _, value in ipairs({ scope, soft, spent, -1, 0, ends, spend.day }) do crossed[#crossed + 1] = value end
  end
  local is_unusual = pct >= 0 and spend.usual > 0 and spend.today > spend.usual * (1 + pct / 100)
  local is_told = is_unusual and counted > 0 and redis.call("HGET", spend_key(scope), "w") ~= spend.day
  if is_told then
    local values = { scope, 0, spend.today, spend.usual, pct, day_ends, spend.day }
    for _, value in ipairs(values) do crossed[#crossed + 1] = value end
  end
  local lease_before, held_before = spend.lease, spend.held
  local covered = math.min(sum, spend.lease)
  local lease, leases = spend.lease - covered, spend.leases - covered
  if hard == 0 then held = 0 end
  local holds = spend.holds - held_before + held
  local granted, outcome = 0, GRANTED
  if hard > 0 then
    granted, outcome = lease_for(hard - spent, leases, holds, lease, held, target, need, is_restating)
  end
  leases = leases - lease + granted
  if sum > 0 or spend.has_begun or granted ~= lease_before or held ~= held_before then
    local more = spend.day == "" and {} or spend_fields(spend)
    if is_told then
      more[#more + 1] = "w"
      more[#more + 1] = spend.day
    end
    if spend.was_placed then end_sums(spend) end
    local was_known = lease_before ~= 0 or held_before ~= 0
    local set = key("budget_leases:" .. CELL)
    write_part(spend_key(scope), set, scope, CELL, leases, holds, granted, held, was_known, more)
    if spend.has_begun then note_spend(scope) end
  end
  if outcome == ELSEWHERE then want_idle(spend_key(scope), "budget_wanted:", scope) end
  return granted, hard - spent - leases, hard - spent - holds, outcome, spent, holds, spend.day
end

-- `budgets`: a flat list of what `exchange_budget` takes. Returns a flat list of what it returns for each, scopes whose idle lease
-- the cell is asked to give back, what was crossed, and Redis's time.
exchange_budgets = function(budgets, is_restating)
  local now = wall_ms()
  local answers, crossed = {}, {}
  for i = 1, #budgets, SCOPE_VALUES do
    local part = {}
    for n = 1, SCOPE_VALUES do part[n] = budgets[i + n - 1] end
    for _, value in ipairs({ exchange_budget(part, now, is_restating, crossed) }) do
      answers[#answers + 1] = value
    end
  end
  return answers, redis.call("SPOP", key("budget_wanted:" .. CELL), WANTED_TOLD), crossed, now
end

-- Gives back what the cell's former life had leased of so many budgets. Returns how many are left.
return_budgets = function(count)
  local name = key("budget_leases:" .. CELL)
  for _, scope in ipairs(redis.call("SRANDMEMBER", name, count)) do
    local spend = spend_of(scope, CELL)
    local leases, holds = spend.leases - spend.lease, spend.holds - spend.held
    write_part(spend_key(scope), name, scope, CELL, leases, holds, 0, 0, true)
  end
  redis.call("DEL", key("budget_wanted:" .. CELL))
  return redis.call("SCARD", name)
end

-- { "budget_restate", leases }: as "credit_restate", a flat list of scope and lease.
operations.budget_restate = function(operation)
  local stated = operation[2]
  for i = 1, #stated, 2 do
    local spend = spend_of(stated[i], CELL)
    if stated[i + 1] > spend.lease then
      local was_known = spend.lease ~= 0 or spend.held ~= 0
      local leases = spend.leases - spend.lease + stated[i + 1]
      local set = key("budget_leases:" .. CELL)
      write_part(spend_key(stated[i]), set, stated[i], CELL, leases, spend.holds, stated[i + 1], spend.held, was_known)
    end
  end
  return {}
end

-- { "spend", list }: a flat list of scope, the cell's day, and when it and its month began. Returns of each what was spent on that day, or a
-- newer one that another cell has begun, in its month, and held of its hard budget; then Redis's time, shift and clock_changes. Writes nothing.
operations.spend = function(operation)
  local asked, answer, now = operation[2], {}, wall_ms()
  for i = 1, #asked, 4 do
    local spend = spend_of(asked[i], CELL)
    if spend.day ~= "" then turn_to(spend, asked[i + 1], asked[i + 2], asked[i + 3], now) end
    answer[#answer + 1] = spend.today
    answer[#answer + 1] = spend.month
    answer[#answer + 1] = spend.holds
  end
  for _, value in ipairs({ now, shift, clock_changes }) do answer[#answer + 1] = value end
  return answer
end

-- { "spend_begin", scopes }: what a dataset begins with: a flat list of scope, its newest day, spent on it and in its month, and of an org
-- the usual of a day and a list of days before: day, spent on it. What is there stays. The first charge makes parts of it.
operations.spend_begin = function(operation)
  local scopes = operation[2]
  for i = 1, #scopes, 6 do
    local scope, day, today, month, usual, days = unpack(scopes, i, i + 5)
    local name = spend_key(scope)
    if redis.call("EXISTS", name) == 0 then
      redis.call("HSET", name, "d", day, "t", decimal(today), "m", decimal(month))
      if string.sub(scope, 1, 1) == "o" then redis.call("HSET", name, "u", decimal(usual)) end
      for n = 1, #days, 2 do redis.call("HSET", name, "s:" .. days[n], decimal(days[n + 1])) end
      note_spend(scope)
    end
  end
  return {}
end

-- What was charged in a row and is not in its lineage's row yet: on the row's day, and earlier in its month. Also the row's day.
local function unjoined(scope)
  local day, today, month, joined = unpack(redis.call("HMGET", spend_key(scope), "d", "t", "m", "j"))
  if not day then return 0, 0, "" end
  today, month = tonumber(today or 0), tonumber(month or 0)
  local of, today_before, month_before = string.match(joined or "", "^([^ ]+) (%d+) (%d+)$")
  local month_added = month - (of and month_of(of) == month_of(day) and tonumber(month_before) or 0)
  -- A day that went back with the clock has been joined as of a later one.
  local today_added = math.max(math.min(today - (of == day and tonumber(today_before) or 0), month_added), 0)
  return today_added, math.max(month_added - today_added, 0), day, { day, decimal(today), decimal(month) }
end

-- { "spend_join", list }: a flat list of the scope of a later key of a lineage, the lineage's scope, the cell's day, and when it and its
-- month began. A release before this one counted each key apart; what it counted is added to the lineage's row, each charge once however
-- often this runs. The key's row stays, with the leases in it: a cell of that release that still runs admits calls by it, and would
-- find a budget that nothing is spent of. Its cells take their leases out of it themselves, and what it charges meanwhile is added when
-- this runs again.
operations.spend_join = function(operation)
  local joins, now = operation[2], wall_ms()
  for i = 1, #joins, 5 do
    local scope, into, day, starts, month_starts = unpack(joins, i, i + 4)
    local today, earlier, of, all = unjoined(scope)
    if today + earlier > 0 then
      local spend = spend_of(into, CELL)
      turn_to(spend, day, starts, month_starts, now)
      count_spend(spend, today, of, 0)
      count_spend(spend, earlier, month_of(of) .. "-00", 0)
      local fields = spend_fields(spend)
      if spend.was_placed then end_sums(spend) end
      redis.call("HSET", spend_key(into), unpack(fields))
      note_spend(into)
      redis.call("HSET", spend_key(scope), "j", table.concat(all, " "))
    end
  end
  return {}
end
