import { useEffect, useRef, useState } from 'react';

/** What a button opens in its box: a press elsewhere closes it, and Escape, which gives the focus back to the button. */
export function useFoldout() {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => {
      if (!(event instanceof KeyboardEvent)) {
        if (!box.current?.contains(event.target as Node)) setOpen(false);
      } else if (event.key === 'Escape') {
        setOpen(false);
        button.current?.focus();
      }
    };
    addEventListener('pointerdown', away);
    addEventListener('keydown', away);
    return () => {
      removeEventListener('pointerdown', away);
      removeEventListener('keydown', away);
    };
  }, [open]);
  return { open, setOpen, box, button };
}
