/** Range and filters of the overview: all of them are in the address. */
import { useState } from "preact/hooks";
import { query, setFilters } from "../../app/router.ts";
import { Chip, Chips } from "../../parts/chip.tsx";
import { TextField } from "../../parts/field.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { dayOf, daysAfter, isDay } from "../../text/days.ts";
import { format } from "../../text/org-format.ts";
import { customDays, FILTERS, filtersOf, RANGES, rangeOf } from "./range.ts";

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
  const [from, setFrom] = useState(shown.get("from") ?? "");
  const [to, setTo] = useState(shown.get("to") ?? "");
  if (rangeOf(shown) !== "custom") return null;
  const isWhole = customDays(shown) !== undefined;
  const change = (name: "from" | "to", set: (text: string) => void) => (text: string) => {
    set(text);
    if (isDay(text)) setFilters({ [name]: text });
  };
  return (
    <div class="overview-days">
      <TextField label="First day" type="date" value={from} onValue={change("from", setFrom)} />
      <TextField
        label="Last day"
        type="date"
        value={to}
        onValue={change("to", setTo)}
        fault={isWhole ? undefined : "It must not be before the first day."}
      />
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
