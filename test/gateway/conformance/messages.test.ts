/** The conformance cases of the messages format over every upstream dialect. */
import { conformance } from "./suite.ts";

conformance("messages");
