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

type Kept = Envelope | Mark;

interface Keeper {
  /** Whether a code would outlive this page. */
  isLasting: () => boolean;
  /** Whether leaving this page now would lose a code that is not sent yet. */
  isAtRisk: () => boolean;
  read: () => Promise<Kept | undefined>;
  /** Draws and keeps unless something is kept already; tells whether it did. */
  seal: (draw: () => Envelope) => Promise<boolean>;
  write: (value: Kept) => Promise<void>;
}

/** sent: committed. closed, refused: never. unfit: not as things are. Otherwise: try again. */
type Outcome = "sent" | "closed" | "refused" | "unfit" | "early" | "later";

interface Reply {
  outcome: Outcome;
  /** How long the server asks to wait; 0 where it says nothing. */
  seconds: number;
}

type Tell = (title: string, text: string, again?: () => void) => void;

/** What the check before sending shows, and what can be done there. */
interface Check {
  manifest: Manifest;
  codes: number[];
  back: () => void;
  change: (index: number) => void;
  submit: () => void;
}

/** What one question's step shows, and what can be done there. */
interface Step {
  manifest: Manifest;
  index: number;
  /** The answer given before, when coming back. */
  code: number | undefined;
  back: () => void;
  proceed: (code: number) => void;
}

interface Visit {
  keeper: Keeper;
  intake: string;
  tell: Tell;
  /** The code is of another tab, not of what was chosen in this one. */
  other?: boolean;
}
