// The questions that are kept: what the page reads and sends.
import { graphql, type ResultOf } from '../graph/graphql';

export const kept = graphql(`fragment Kept on Question {
  questionId version name description folder isShared isEditable owner
  definition { measure interval split chart span firstDay lastDay compare groupId tagName physicalId }
}`);

export const list = graphql(`
  query KeptQuestions { company { questions(first: 100) { nodes { ...Kept } totalCount } } }
`, [kept]);

export const one = graphql(`
  query KeptQuestion($questionId: String!) { question(by: {questionId: $questionId}) { ...Kept } }
`, [kept]);

export const create = graphql('mutation CreateQuestion($input: CreateQuestionInput!) { createQuestion(input: $input) { question { questionId } } }');
export const edit = graphql('mutation EditQuestion($input: EditQuestionInput!) { editQuestion(input: $input) { question { questionId } } }');
export const remove = graphql('mutation DeleteQuestion($input: DeleteQuestionInput!) { deleteQuestion(input: $input) { question { questionId } } }');

export type Kept = NonNullable<ResultOf<typeof one>['question']>;
