-- Merged rows: sums and maxima of what each cell counted for itself. No act depends on them.
--
-- {…}:merged            hash: table -> number of the latest change of one of its rows
-- {…}:merged:<table>    hash: row -> its whole numbers, with a space between
-- {…}:changes:<table>   sorted set: row -> number of its latest change

-- "max" keeps the greater of two numbers, "sum" adds them up.
local function merged(kind, before, number)
  if kind == "sum" then return (before or 0) + number end
  return math.max(before or number, number)
end

-- { "merge", table, kind, rows, since, limit }: `rows` are lists of a row's name and its numbers. Returns the number of the
-- latest change, up to which change the answer reaches, and then rows that changed after `since`: name, numbers as text.
operations.merge = function(operation)
  local name, kind = operation[2], operation[3]
  local rows, changes = key("merged:" .. name), key("changes:" .. name)
  local latest = tonumber(redis.call("HGET", key("merged"), name) or 0)
  for _, row in ipairs(operation[4]) do
    local stored = redis.call("HGET", rows, row[1])
    local before, after = {}, {}
    for number in string.gmatch(stored or "", "%d+") do before[#before + 1] = tonumber(number) end
    for i = 2, #row do after[i - 1] = decimal(merged(kind, before[i - 1], row[i])) end
    local text = table.concat(after, " ")
    if text ~= stored then
      latest = latest + 1
      redis.call("HSET", rows, row[1], text)
      redis.call("ZADD", changes, latest, row[1])
    end
  end
  if #operation[4] > 0 then redis.call("HSET", key("merged"), name, decimal(latest)) end
  local answer = { decimal(latest), decimal(latest) }
  local found = redis.call(
    "ZRANGEBYSCORE", changes, "(" .. decimal(operation[5]), "+inf", "WITHSCORES", "LIMIT", 0, operation[6]
  )
  for i = 1, #found, 2 do
    answer[#answer + 1] = found[i]
    answer[#answer + 1] = redis.call("HGET", rows, found[i])
  end
  if #found == 2 * operation[6] then answer[2] = found[#found] end
  return answer
end
