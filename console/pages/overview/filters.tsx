/** Range and filters of the overview: all of them are in the address. */
import { query, setFilters } from "../../app/router.ts";
import { Chip, Chips } from "../../parts/chip.tsx";
import { DayRange } from "../../parts/day-range.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { dayOf, daysAfter } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { FILTERS, filtersOf, RANGES, rangeOf } from "./range.ts";

/** Days of a custom range, before one is chosen. */
const USUAL_DAYS = 7;

export function RangeTabs() {
  const choose = (range: string) => {
    if (range !== "custom") {
      setFilters({ range, from: "", to: "" });
      return;
    }
    const { zone } = format.value.place;
    const to = dayOf(Date.now(), zone);
    setFilters({ range, from: daysAfter(to, 1 - USUAL_DAYS), to });
  };
  return <Tabs label="Range" options={RANGES} value={rangeOf(query.value)} onValue={choose} />;
}

/** First and last day. Shown with the range "Custom" alone. */
export function CustomRange() {
  const shown = query.value;
  if (rangeOf(shown) !== "custom") return null;
  return (
    <div class="overview-days">
      <DayRange from={shown.get("from") ?? ""} to={shown.get("to") ?? ""} onChange={setFilters} />
    </div>
  );
}

/** @param nameOf what an id is called, where that is known */
export function FilterChips({ nameOf }: { readonly nameOf: (id: string) => string | undefined }) {
  const set = filtersOf(query.value);
  if (Object.keys(set).length === 0) return null;
  return (
    <Chips>
      {FILTERS.map(([name, title]) => {
        const value = set[name];
        return value === undefined ? null : (
          <Chip
            key={name}
            name={title}
            value={nameOf(value) ?? value}
            onRemove={() => setFilters({ [name]: "" })}
          />
        );
      })}
    </Chips>
  );
}
