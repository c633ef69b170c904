-- What all operations share. The files of this folder are joined in the order of their names to one script: an exchange.
--
-- KEYS[1]  the dataset's key, "{…}:dataset"; all other keys begin with the part in braces, so that they share a slot
-- ARGV     dataset id, term, cell, life, lane, number, least and most that the cell expects of steady time, operations (MessagePack),
--          then blobs: bytes that operations name
--
-- An exchange runs whole or not at all, but Redis does not take back what a script wrote before an error: each operation
-- checks everything first, and then only writes what cannot fail.

local PREFIX = string.match(KEYS[1], "^({[^}]*}:)")
local DATASET = KEYS[1]
local CELL, LIFE, LANE = ARGV[3], ARGV[4], ARGV[5]

-- Name of an operation -> function(operation) that returns its result: a list of strings and whole numbers.
local operations = {}

local function key(name) return PREFIX .. name end

-- Redis's time, milliseconds since 1970. Days and months follow it.
local function wall_ms()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Of the dataset: `unsure_until` is 0 for none (see `enter.lua`); by `shift` all clocks were set ahead since it began, in so many
-- `clock_changes` (see `clock.lua`).
local unsure_until, shift, clock_changes

-- Steady time, milliseconds: it goes on evenly when all clocks are set. What lasts for some time is measured by it, not by `wall_ms`.
local function now_ms() return wall_ms() - shift end

-- A whole number as decimal text: `tostring` would write large ones with an exponent.
local function decimal(number) return string.format("%.0f", number) end

-- The bytes of this number; nothing for 0.
local function blob(number)
  if number == 0 then return nil end
  return ARGV[9 + number]
end
