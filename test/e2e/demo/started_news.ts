/** Starts the progress messages on import. Import it first, because the servers are built while later modules load. */
import { startNews } from "./news.ts";

export const news = startNews();
