// The shapes that the modules hand to each other. For tsc only; browsers never load this.

interface Option {
  code: number;
  text: string;
}

interface Question {
  type: string;
  text: string;
  k: number;
  threshold: number;
  options: Option[];
}

interface Manifest {
  format: number;
  title: string;
  language: string;
  minimum_batch: number;
  display_minimum: number;
  questions: Question[];
}

/** A randomized report, drawn once; its bytes on the wire follow from it. */
interface Envelope {
  manifest: string;
  id: string;
  symbols: string;
}

/** What is left of an envelope that will not be sent again. */
interface Mark {
  over: "sent" | "closed" | "refused";
}

interface Keeper {
  isLasting: () => boolean;
  isAtRisk: () => boolean;
  read: () => Promise<Envelope | Mark | undefined>;
  seal: (draw: () => Envelope) => Promise<boolean>;
  write: (value: Envelope | Mark) => Promise<void>;
}

/** sent: committed. closed, refused: never. unfit: not as things are. Otherwise: try again. */
type Outcome = "sent" | "closed" | "refused" | "unfit" | "early" | "later";

type Tell = (title: string, text: string, again?: () => void) => void;
