/** The page "Tickets": the list, a new ticket, one ticket by its id. */
import { segments } from "../../app/router.ts";
import { TicketList } from "./list.tsx";
import { NewTicket } from "./new-ticket.tsx";
import { TicketPage } from "./ticket-page.tsx";

export function Tickets() {
  const at = segments.value[2] ?? "";
  if (at === "") return <TicketList />;
  return at === "new" ? <NewTicket /> : <TicketPage key={at} id={at} />;
}
