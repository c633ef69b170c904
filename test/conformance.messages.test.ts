/** The conformance cases of the messages format over every upstream dialect. */
import { conformance } from "./conformance.suite.ts";

conformance("messages");
