//! Tables made once a variant is compiled: for every unit and square its moves, for every square who could attack it.
//!
//! Both are *path programs*: all paths from a square, merged where they share their beginning and written out depth
//! first. One step looks at one square and says what may end there and whether the path goes on over an empty or an
//! occupied square; `skip` leads past everything that hangs on it. One tight loop thus serves leapers, sliders, hoppers
//! and bent pieces alike, whatever the variant.

use super::paths::{Condition, Path};
use crate::geometry::{GRID_SQUARES, Square};

/// One step of a unit's moves from a square.
#[derive(Clone, Copy, Debug)]
pub struct MoveStep {
    /// The square looked at.
    pub square: Square,
    flags: u8,
    /// How many steps on to go when the path does not continue here.
    pub skip: u16,
}

impl MoveStep {
    const MOVES: u8 = 1;
    const CAPTURES: u8 = 2;
    const ON_IF_EMPTY: u8 = 4;
    const ON_IF_OCCUPIED: u8 = 8;

    /// The unit may end here if the square is empty.
    #[inline]
    pub const fn moves(self) -> bool {
        self.flags & Self::MOVES != 0
    }

    /// The unit may end here by taking an enemy man.
    #[inline]
    pub const fn captures(self) -> bool {
        self.flags & Self::CAPTURES != 0
    }

    /// How far to go on, given whether the square is empty.
    #[inline]
    pub const fn advance(self, empty: bool) -> usize {
        let on = if empty { Self::ON_IF_EMPTY } else { Self::ON_IF_OCCUPIED };
        if self.flags & on != 0 { 1 } else { self.skip as usize }
    }
}

/// One step of the search for attackers of a square, walking outward from it.
#[derive(Clone, Copy, Debug)]
pub struct AttackStep {
    /// The square looked at.
    pub square: Square,
    /// What the path asks of it to go on.
    pub passes: Passes,
    /// How many steps on to go when the path does not continue here.
    pub skip: u16,
    /// Bit u: a unit of type u that stands here attacks the square the walk began at.
    pub attackers: u32,
}

/// What a square must be like for a path to lead over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// The path ends here.
    Never,
    /// Empty.
    Empty,
    /// Occupied by anybody.
    Occupied,
}

impl AttackStep {
    /// Whether the path goes on, given whether the square is empty.
    #[inline]
    pub fn goes_on(&self, empty: bool) -> bool {
        match self.passes {
            Passes::Never => false,
            Passes::Empty => empty,
            Passes::Occupied => !empty,
        }
    }
}

/// One program for every square of the grid, back to back.
#[derive(Clone, Debug)]
pub(super) struct Programs<S> {
    starts: Vec<u32>,
    steps: Vec<S>,
}

impl<S> Programs<S> {
    fn build(programs: impl Iterator<Item = Vec<S>>) -> Self {
        let mut all = Self { starts: vec![0], steps: Vec::new() };
        for program in programs {
            all.steps.extend(program);
            all.starts.push(all.steps.len() as u32);
        }
        all
    }

    #[inline]
    pub fn of(&self, square: Square) -> &[S] {
        let index = square.index();
        &self.steps[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// The moves of one unit of one colour, by square of origin.
pub(super) fn move_programs(paths_from: &[Vec<Path>]) -> Programs<MoveStep> {
    debug_assert_eq!(paths_from.len(), GRID_SQUARES);
    Programs::build(paths_from.iter().map(|paths| {
        let mut tree = Tree::default();
        for path in paths {
            let end = tree.insert(path.conditions.iter().copied(), path.target);
            end.moves |= path.moves;
            end.captures |= path.captures;
        }
        let mut steps = Vec::new();
        tree.write_moves(&mut steps);
        steps
    }))
}

/// Who of one colour attacks a square, by square attacked. `paths_from[unit][origin]` are that colour's paths.
pub(super) fn attack_programs(paths_from: &[Vec<Vec<Path>>]) -> Programs<AttackStep> {
    let mut trees: Vec<Tree> = (0..GRID_SQUARES).map(|_| Tree::default()).collect();
    for (unit, by_origin) in paths_from.iter().enumerate() {
        for (origin, paths) in by_origin.iter().enumerate() {
            for path in paths.iter().filter(|path| path.captures) {
                let origin = Square::from_index(origin as u8);
                let end = trees[path.target.index()].insert(path.conditions.iter().rev().copied(), origin);
                end.attackers |= 1 << unit;
            }
        }
    }
    Programs::build(trees.iter().map(|tree| {
        let mut steps = Vec::new();
        tree.write_attacks(&mut steps);
        steps
    }))
}

/// Paths merged where they begin alike.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
}

struct Node {
    square: Square,
    moves: bool,
    captures: bool,
    attackers: u32,
    if_empty: Tree,
    if_occupied: Tree,
}

impl Tree {
    fn insert(&mut self, mut conditions: impl Iterator<Item = Condition>, end: Square) -> &mut Node {
        match conditions.next() {
            None => self.node(end),
            Some(condition) => {
                let node = self.node(condition.square);
                let next = if condition.empty { &mut node.if_empty } else { &mut node.if_occupied };
                next.insert(conditions, end)
            }
        }
    }

    fn node(&mut self, square: Square) -> &mut Node {
        let index = self.nodes.iter().position(|node| node.square == square).unwrap_or(self.nodes.len());
        if index == self.nodes.len() {
            self.nodes.push(Node {
                square,
                moves: false,
                captures: false,
                attackers: 0,
                if_empty: Self::default(),
                if_occupied: Self::default(),
            });
        }
        &mut self.nodes[index]
    }

    fn write_moves(&self, steps: &mut Vec<MoveStep>) {
        for node in &self.nodes {
            let ends = u8::from(node.moves) * MoveStep::MOVES + u8::from(node.captures) * MoveStep::CAPTURES;
            let branches = [(&node.if_empty, MoveStep::ON_IF_EMPTY), (&node.if_occupied, MoveStep::ON_IF_OCCUPIED)];
            node.write(branches, steps, |first, on| MoveStep {
                square: node.square,
                flags: if first { ends } else { 0 } | on.unwrap_or(0),
                skip: 1,
            });
        }
    }

    fn write_attacks(&self, steps: &mut Vec<AttackStep>) {
        for node in &self.nodes {
            let branches = [(&node.if_empty, Passes::Empty), (&node.if_occupied, Passes::Occupied)];
            node.write(branches, steps, |first, passes| AttackStep {
                square: node.square,
                passes: passes.unwrap_or(Passes::Never),
                skip: 1,
                attackers: if first { node.attackers } else { 0 },
            });
        }
    }
}

/// A step of either kind of program.
trait ProgramStep: Sized {
    fn set_skip(&mut self, skip: u16);
    fn write_tree(tree: &Tree, steps: &mut Vec<Self>);
}

impl ProgramStep for MoveStep {
    fn set_skip(&mut self, skip: u16) {
        self.skip = skip;
    }
    fn write_tree(tree: &Tree, steps: &mut Vec<Self>) {
        tree.write_moves(steps);
    }
}

impl ProgramStep for AttackStep {
    fn set_skip(&mut self, skip: u16) {
        self.skip = skip;
    }
    fn write_tree(tree: &Tree, steps: &mut Vec<Self>) {
        tree.write_attacks(steps);
    }
}

impl Node {
    /// Writes the node once for each way the path goes on, or once if it ends here; only the first carries what may
    /// happen on the square itself.
    fn write<S: ProgramStep, B: Copy>(
        &self,
        branches: [(&Tree, B); 2],
        steps: &mut Vec<S>,
        step: impl Fn(bool, Option<B>) -> S,
    ) {
        let mut first = true;
        for (branch, on) in branches.into_iter().filter(|(branch, _)| !branch.nodes.is_empty()) {
            let at = steps.len();
            steps.push(step(first, Some(on)));
            S::write_tree(branch, steps);
            let skip = (steps.len() - at) as u16;
            steps[at].set_skip(skip);
            first = false;
        }
        if first {
            steps.push(step(true, None));
        }
    }
}
