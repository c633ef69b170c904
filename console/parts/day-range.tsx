/** The first and the last day of a range: two fields, which the address follows as soon as a day is whole. */
import { useState } from "preact/hooks";
import { isDay, wholeDays } from "../text/days.ts";
import { TextField } from "./field.tsx";

interface DayRangeProps {
  /** `YYYY-MM-DD`; empty: not chosen. */
  readonly from: string;
  readonly to: string;
  readonly onChange: (change: { readonly from?: string; readonly to?: string }) => void;
}

export function DayRange(range: DayRangeProps) {
  const [from, setFrom] = useState(range.from);
  const [to, setTo] = useState(range.to);
  const change = (name: "from" | "to", set: (text: string) => void) => (text: string) => {
    set(text);
    if (isDay(text)) range.onChange({ [name]: text });
  };
  return (
    <>
      <TextField label="First day" type="date" value={from} onValue={change("from", setFrom)} />
      <TextField
        label="Last day"
        type="date"
        value={to}
        onValue={change("to", setTo)}
        fault={
          wholeDays(range.from, range.to) === undefined ? "It must not be before the first day." : undefined
        }
      />
    </>
  );
}
