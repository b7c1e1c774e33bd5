import { Dialog, type DialogProps } from '../shell/Dialog';
import '../styles/sheet.css';

/**
 * A form at the side of its view, as high as the window, with its actions in sight: for six fields or
 * more, and for what grows as it is filled. Shorter ones are dialogs, and those with an address views.
 */
export const Sheet = (props: Omit<DialogProps, 'className' | 'leftBeside'>) => <Dialog {...props} className="sheet" leftBeside />;
