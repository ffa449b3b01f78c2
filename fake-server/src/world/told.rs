//! What is told of a thing again and again is written down once, and forgotten when the thing changes.

use crate::wire::envelope::Success;
use std::ops::Deref;

/// Facts, and the answer last made of them. The only way to change the facts forgets the answer, so
/// that none is ever stale.
#[derive(Clone, Debug)]
pub(super) struct Told<F, K> {
    facts: F,
    /// What was asked for (a view may depend on more than the facts), and the answer.
    said: Option<(K, Success)>,
}

impl<F, K: PartialEq> Told<F, K> {
    pub(super) const fn new(facts: F) -> Self {
        Self { facts, said: None }
    }

    /// The facts, to be changed.
    pub(super) fn change(&mut self) -> &mut F {
        self.said = None;
        &mut self.facts
    }

    /// The answer for this key: the one made before, or this one.
    pub(super) fn say(&mut self, key: K, make: impl FnOnce(&F) -> Success) -> Success {
        if let Some((last, said)) = &self.said
            && *last == key
        {
            return said.clone();
        }
        let said = make(&self.facts);
        self.said = Some((key, said.clone()));
        said
    }
}

impl<F, K> Deref for Told<F, K> {
    type Target = F;
    fn deref(&self) -> &F {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_made_again_when_the_facts_or_the_question_change() {
        let mut told = Told::new(1);
        let mut made = 0;
        let mut ask = |told: &mut Told<i32, char>, key| {
            let said = told.say(key, |fact| {
                made += 1;
                Success::of(fact)
            });
            (said.data().to_owned(), made)
        };
        assert_eq!(ask(&mut told, 'a'), ("1".to_owned(), 1));
        assert_eq!(ask(&mut told, 'a'), ("1".to_owned(), 1));
        assert_eq!(ask(&mut told, 'b'), ("1".to_owned(), 2));
        *told.change() = 2;
        assert_eq!(ask(&mut told, 'b'), ("2".to_owned(), 3));
    }
}
