//! A drawing, in SVG: BLEU and SPR of systems by size of the bag (figure 8 of the paper), and how many sentences there are of
//! each size.
//!
//! Sizes stand at their place on the axis: one that no sentence has is a gap, and lines break there.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use crate::order::score::{BySize, Stats};

/// A system: its name and its scores.
pub type System<'a> = (&'a str, &'a BySize);

/// Colours of BLEU and of SPR, a pair for a system. Where both are equal SPR lies on BLEU: darker, thinner and dashed it
/// leaves BLEU to be seen. With more systems the colours start again; the titles of the points still have the names.
const COLOURS: [(&str, &str); 7] = [
    ("#6db3e8", "#0b5394"),
    ("#f5a27a", "#b23c00"),
    ("#6fd0ae", "#00704d"),
    ("#e8a3c8", "#9c1f6b"),
    ("#ecc85a", "#8a6400"),
    ("#b0a4ea", "#4b34a8"),
    ("#b8b8b8", "#333333"),
];

const TOP: f64 = 40.0;
/// Room for the scale, its title and the name of the row of sentences.
const LEFT: f64 = 82.0;
const RIGHT: f64 = 20.0;
const HEIGHT: f64 = 250.0;
/// The plot is as wide as its classes need, but neither less nor more than this.
const WIDTH: (f64, f64) = (480.0, 1600.0);
const FONT: f64 = 12.0;
/// From one line of text to the next.
const LINE: f64 = 18.0;

/// Where things are.
struct Layout {
    classes: RangeInclusive<usize>,
    /// Width of the plot, and of a class in it.
    width: f64,
    step: f64,
    /// Labels stand upright if they would touch each other; only every so many classes have one if even that is too much.
    upright: bool,
    every: usize,
    /// Rooms for the labels of sizes and of numbers of sentences, below the plot.
    sizes: f64,
    counts: f64,
}

impl Layout {
    fn new(systems: &[System]) -> Self {
        let all = || systems.iter().flat_map(|(_, scores)| scores.classes.keys().copied());
        let classes = all().min().unwrap_or(0)..=all().max().unwrap_or(0);
        let number = (classes.end() - classes.start() + 1) as f64;
        let width = (number * LINE).clamp(WIDTH.0, WIDTH.1);
        let step = width / number;
        let sizes = text_width(&size(*classes.end()));
        let counts = all().map(|class| text_width(&sentences(systems, class).to_string())).fold(0.0, f64::max);
        let upright = sizes.max(counts) + 8.0 > step;
        let room = |label: f64| if upright { label + 8.0 } else { LINE };
        let every = (LINE / step).ceil().max(1.0) as usize;
        Layout { width, step, upright, every, sizes: room(sizes), counts: room(counts), classes }
    }
    /// The middle of a class.
    fn x(&self, class: usize) -> f64 {
        LEFT + self.step * ((class - self.classes.start()) as f64 + 0.5)
    }
    /// The place of a system's points: side by side, so that equal ones are all seen.
    fn point(&self, class: usize, system: usize, systems: usize) -> f64 {
        let apart = (self.step * 0.6 / systems as f64).min(6.0);
        self.x(class) + apart * (system as f64 - (systems as f64 - 1.0) / 2.0)
    }
    fn y(&self, value: f64) -> f64 {
        TOP + HEIGHT * (1.0 - value / 100.0)
    }
    fn right(&self) -> f64 {
        LEFT + self.width
    }
    fn bottom(&self) -> f64 {
        TOP + HEIGHT
    }
    /// Where the title of the axis begins, and below it the legend.
    fn title(&self) -> f64 {
        self.bottom() + self.sizes + self.counts + 4.0
    }
}

/// The whole drawing.
pub fn draw(systems: &[System]) -> String {
    let at = Layout::new(systems);
    let legend = at.title() + 1.5 * LINE;
    let (width, height) = (at.right() + RIGHT, legend + LINE * systems.len() as f64 + 12.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"{FONT}\">\n\
         <title>BLEU and SPR by size of the bag</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-weight=\"bold\">BLEU and SPR by size of the bag</text>\n"
    );
    scale(&mut out, &at);
    axis(&mut out, &at, systems);
    for (i, system) in systems.iter().enumerate() {
        let place = |class| at.point(class, i, systems.len());
        lines(&mut out, &at, system, COLOURS[i % COLOURS.len()], place);
        legend_row(&mut out, system.0, COLOURS[i % COLOURS.len()], legend + LINE * (i as f64 + 0.5), at.right());
    }
    out + "</svg>\n"
}

/// The scale from 0 to 100 with its title.
fn scale(out: &mut String, at: &Layout) {
    let right = at.right();
    for value in (0..=100).step_by(20) {
        let y = at.y(value as f64);
        let _ = writeln!(out, "<path d=\"M{LEFT},{y:.1}H{right:.1}\" stroke=\"#ddd\"/>");
        text(out, (LEFT - 6.0, y + 4.0), "text-anchor=\"end\"", &value.to_string());
    }
    let (x, y) = (LEFT - 44.0, at.y(50.0));
    let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\"");
    text(out, (x, y), &turned, "BLEU, SPR (%)");
}

/// Sizes with their numbers of sentences below the plot, and what they are.
fn axis(out: &mut String, at: &Layout, systems: &[System]) {
    for class in at.classes.clone().step_by(at.every) {
        let count = sentences(systems, class);
        // Sizes without sentences are there, but paler.
        let colour = if count == 0 { "#aaa" } else { "black" };
        let mut label = |top: f64, label: &str| {
            if at.upright {
                let (x, y) = (at.x(class) + 4.0, top + 8.0);
                let turned = format!("fill=\"{colour}\" text-anchor=\"end\" transform=\"rotate(-90 {x:.1} {y:.1})\"");
                text(out, (x, y), &turned, label);
            } else {
                let middle = format!("fill=\"{colour}\" text-anchor=\"middle\"");
                text(out, (at.x(class), top + LINE), &middle, label);
            }
        };
        label(at.bottom(), &size(class));
        label(at.bottom() + at.sizes, &count.to_string());
    }
    let row = |top: f64| if at.upright { top + 8.0 + FONT } else { top + LINE };
    text(out, (LEFT - 6.0, row(at.bottom())), "text-anchor=\"end\"", "words");
    text(out, (LEFT - 6.0, row(at.bottom() + at.sizes)), "text-anchor=\"end\"", "sentences");
    let middle = LEFT + at.width / 2.0;
    text(out, (middle, at.title() + LINE), "text-anchor=\"middle\"", "size of the bag");
}

/// The two lines of a system; `x` is the place of a class.
fn lines(out: &mut String, at: &Layout, (name, scores): &System, colours: (&str, &str), x: impl Fn(usize) -> f64) {
    let point = |class: usize, value: f64| (x(class), at.y(value));
    for run in runs(scores) {
        let along = |value: fn(&Stats) -> f64| -> String {
            let points = run.iter().map(|&(class, stats)| point(class, value(stats)));
            points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
        };
        if run.len() > 1 {
            let _ = writeln!(out, "<polyline points=\"{}\" {}/>", along(Stats::bleu), bleu_stroke(colours.0));
            let _ = writeln!(out, "<polyline points=\"{}\" {}/>", along(Stats::exact_rate), spr_stroke(colours.1));
        }
    }
    // After all lines, so that none crosses a mark.
    for (&class, stats) in &scores.classes {
        let of = format!("{name}: {} words, {} sentences", size(class), stats.sentences);
        let (bleu, spr) = (stats.bleu(), stats.exact_rate());
        bleu_mark(out, point(class, bleu), colours.0, &format!("{of}, BLEU {bleu:.2}"));
        spr_mark(out, point(class, spr), colours.1, &format!("{of}, SPR {spr:.2}"));
    }
}

/// Classes that follow one another, up to the next gap.
fn runs(scores: &BySize) -> Vec<Vec<(usize, &Stats)>> {
    let mut runs: Vec<Vec<(usize, &Stats)>> = vec![];
    for (&class, stats) in &scores.classes {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|&(last, _)| last + 1 == class) => run.push((class, stats)),
            _ => runs.push(vec![(class, stats)]),
        }
    }
    runs
}

fn bleu_stroke(colour: &str) -> String {
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"3\"")
}

fn spr_stroke(colour: &str) -> String {
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"")
}

/// A disc, larger than the square of SPR that may lie on it.
fn bleu_mark(out: &mut String, (x, y): (f64, f64), colour: &str, title: &str) {
    let title = escape(title);
    let _ =
        writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"><title>{title}</title></circle>");
}

fn spr_mark(out: &mut String, (x, y): (f64, f64), colour: &str, title: &str) {
    let (x, y, title) = (x - 2.5, y - 2.5, escape(title));
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"5\" height=\"5\" fill=\"white\" stroke=\"{colour}\"><title>{title}</title></rect>"
    );
}

/// How the lines of a system look, and its name, shortened to end before `right`.
fn legend_row(out: &mut String, name: &str, colours: (&str, &str), y: f64, right: f64) {
    let (bleu, spr, own) = (LEFT, LEFT + 78.0, LEFT + 154.0);
    let sample = |x: f64, stroke: &str| format!("<path d=\"M{x:.1},{y:.1}h32\" {stroke}/>\n");
    out.push_str(&sample(bleu, &bleu_stroke(colours.0)));
    bleu_mark(out, (bleu + 16.0, y), colours.0, name);
    text(out, (bleu + 37.0, y + 4.0), "", "BLEU");
    out.push_str(&sample(spr, &spr_stroke(colours.1)));
    spr_mark(out, (spr + 16.0, y), colours.1, name);
    text(out, (spr + 37.0, y + 4.0), "", "SPR");
    let (short, full) = (escape(&shorten(name, right - own)), escape(name));
    let _ = writeln!(out, "<text x=\"{own:.1}\" y=\"{:.1}\">{short}<title>{full}</title></text>", y + 4.0);
}

fn text(out: &mut String, (x, y): (f64, f64), attributes: &str, words: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escape(words));
}

/// The sizes of a class, as they are shown.
fn size(class: usize) -> String {
    let (from, to) = BySize::sizes(class);
    format!("{from}-{to}")
}

/// Sentences of a class: all systems have the same.
fn sentences(systems: &[System], class: usize) -> u64 {
    systems.iter().filter_map(|(_, scores)| scores.classes.get(&class)).map(|s| s.sentences).max().unwrap_or(0)
}

/// How wide a text is at most, about: which font there will be is not known.
fn text_width(text: &str) -> f64 {
    text.chars().map(letter_width).sum()
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'A'..='Z' | 'm' | 'w' | '@' | '%' => 0.85 * FONT,
        '\0'..='~' => 0.62 * FONT,
        _ => FONT,
    }
}

/// Leaves out the middle of a text that is wider than the room: names of files differ at their ends.
fn shorten(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_string();
    }
    let fitting = |letters: &mut dyn Iterator<Item = char>, room: f64| -> Vec<char> {
        let mut used = 0.0;
        let fits = |letter: &char| {
            used += letter_width(*letter);
            used <= room
        };
        letters.take_while(fits).collect()
    };
    let room = room - letter_width('…');
    let head = fitting(&mut text.chars(), room / 3.0);
    let tail = fitting(&mut text.chars().rev(), room * 2.0 / 3.0);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

/// Text as XML has it, between tags or quotes. Letters that XML cannot have, as a name of a file may, are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::metric::Workspace;

    /// Scores of sentences of these sizes, in the right order or turned round.
    fn scores(sizes: &[usize], right: bool) -> BySize {
        let mut scores = BySize::default();
        for &size in sizes {
            let mut words: Vec<String> = (0..size).map(|i| format!("w{i}")).collect();
            let reference = words.join(" ");
            if !right {
                words.reverse();
            }
            scores.add(&reference, &Stats::of(&reference, &words.join(" "), &mut Workspace::default()));
        }
        scores
    }

    /// Every tag is closed, in order, quotes are in pairs, and no bare letter of XML is between tags.
    #[track_caller]
    fn well_formed(svg: &str) {
        let mut open = vec![];
        for part in svg.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("not closed: {part}"));
            assert!(!text.contains('>'), "{part}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let entity = |e: &str| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|known| e.starts_with(known));
            assert!(part.split('&').skip(1).all(entity), "{part}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{part}");
            } else if !tag.ends_with('/') {
                open.extend(tag.split(' ').next());
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn every_drawing_is_well_formed() {
        let name = "<a href=\"x\">&'b'</a>\u{1}";
        let many: Vec<usize> = (1..130).collect();
        for sizes in [&[3][..], &[6, 12, 30], &many, &[1, 100_000]] {
            let (one, two) = (scores(sizes, true), scores(sizes, false));
            for number in [1, 2, 9] {
                let systems: Vec<System> = [(name, &one), ("two", &two)].into_iter().cycle().take(number).collect();
                let svg = draw(&systems);
                well_formed(&svg);
                assert!(svg.contains("&lt;a href=&quot;x&quot;&gt;&amp;&#39;b&#39;&lt;/a&gt;\u{fffd}"), "{svg}");
            }
        }
        well_formed(&draw(&[]));
    }

    #[test]
    fn lines_break_at_a_gap() {
        let lines = |sizes: &[usize]| -> Vec<usize> {
            let svg = draw(&[("a", &scores(sizes, true))]);
            let points = svg.split("<polyline points=\"").skip(1).map(|p| p.split('"').next().unwrap_or_default());
            points.map(|p| p.split(' ').count()).collect()
        };
        assert_eq!(lines(&[6, 11, 16]), [3, 3]);
        // 16-20 are not there: the single class after them has points, but no line.
        assert_eq!(lines(&[6, 11, 21]), [2, 2]);
        assert_eq!(lines(&[6, 16]), [0; 0]);
        let svg = draw(&[("a", &scores(&[6, 11, 21], true))]);
        assert_eq!(svg.matches("words, 1 sentences").count(), 6, "{svg}");
        assert!(svg.contains(">16-20</text>") && svg.contains(">0</text>"), "{svg}");
    }

    #[test]
    fn long_names_lose_their_middle() {
        let name = format!("{}/system-a.txt", "folder/".repeat(40));
        let short = shorten(&name, 300.0);
        assert!(text_width(&short) <= 300.0, "{short}");
        assert!(short.starts_with("folder/") && short.contains('…') && short.ends_with("/system-a.txt"), "{short}");
        assert_eq!(shorten("short", 300.0), "short");
        let svg = draw(&[(&name, &scores(&[3], true))]);
        assert!(svg.contains(&format!("<title>{name}</title></text>")), "{svg}");
    }
}
