/**
 * Imported before any schema: zod would try `new Function` to find out whether it may compile, which the content security
 * policy refuses and reports.
 */
import * as z from "zod";

z.config({ jitless: true });
