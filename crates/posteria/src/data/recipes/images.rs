//! Draw two classes of rows that come in groups, as places of images do.
//!
//! Every image has a lighting, four numbers that all its rows share but for a little, and a
//! tendency to one of the classes that the lighting says nothing about in other images. Two more
//! inputs tell the classes apart in any image. In kind the forest scenes of [Vehtari 2001, §3.4.3],
//! whose 48 images of 100 places are not public.

use super::table;
use crate::data::Table;
use crate::density::special::logistic;
use crate::random::Stream;

/// What images are like.
#[derive(Clone, Copy, Debug)]
pub struct Images {
    /// Rows of every image.
    pub rows: usize,
    /// Inputs that are the lighting.
    pub lighting: usize,
    /// Inputs that tell the classes apart in any image.
    pub clues: usize,
    /// Standard deviation of the tendency of images, in log odds.
    pub tendency: f64,
    /// Change of the log odds with any of the clues.
    pub slope: f64,
}

/// Few and small images, in which what they share counts for more than what tells the classes
/// apart in any of them.
pub const SMALL: Images =
    Images { rows: ROWS_PER_IMAGE, lighting: 4, clues: 2, tendency: 2.5, slope: 1.2 };

/// Images of the size of the thesis: 100 rows of 84 inputs each, 48 images in all.
pub const FOREST: Images = Images { rows: 100, lighting: 48, clues: 36, tendency: 1.5, slope: 1.0 };

/// Rows of every small image.
pub const ROWS_PER_IMAGE: usize = 15;

/// Small images of a training table.
pub const TRAINING_IMAGES: usize = 24;

/// Images of the size of the thesis of a training table.
pub const FOREST_IMAGES: usize = 48;

/// Standard deviation of a row's lighting about that of its image, whose own is 1.
const WITHIN: f64 = 0.15;

/// Draws `rows` rows of small images, see [`Images::draw`].
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    SMALL.draw(rows, stream)
}

impl Images {
    /// Draws `rows` rows with columns `lighting1`, `lighting2`, …, `x1`, `x2`, …, `class` (0 or 1) and
    /// `image`, numbered from 0; every [`Images::rows`] rows are one image.
    pub fn draw(&self, rows: usize, stream: &mut Stream) -> Table {
        let mut lighting = vec![Vec::with_capacity(rows); self.lighting];
        let mut clues = vec![Vec::with_capacity(rows); self.clues];
        let [mut class, mut image] = [const { Vec::new() }; 2];
        let (mut own, mut tendency) = (vec![0.0; self.lighting], 0.0);
        for row in 0..rows {
            if row % self.rows == 0 {
                stream.fill_normal(&mut own);
                tendency = self.tendency * stream.normal();
            }
            for (column, shared) in lighting.iter_mut().zip(&own) {
                column.push(shared + WITHIN * stream.normal());
            }
            let mut odds = tendency;
            for column in &mut clues {
                let clue = stream.normal();
                odds += self.slope * clue;
                column.push(clue);
            }
            class.push(f64::from(u8::from(stream.uniform() < logistic(odds))));
            image.push((row / self.rows) as f64);
        }
        let name = |what: &str, index: usize| format!("{what}{}", index + 1);
        let names: Vec<String> = (0..self.lighting)
            .map(|index| name("lighting", index))
            .chain((0..self.clues).map(|index| name("x", index)))
            .chain(["class", "image"].map(String::from))
            .collect();
        let columns = lighting.into_iter().chain(clues).chain([class, image]);
        table("images", names.iter().map(String::as_str).zip(columns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, mean, stream, z_score};
    use super::*;

    #[test]
    fn rows_of_an_image_are_alike_and_images_are_not() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let images = 2000;
        let drawn = draw(images * ROWS_PER_IMAGE, &mut stream(31));
        let [light, class, x1] = ["lighting2", "class", "x1"].map(|name| column(&drawn, name));
        let means: Vec<f64> =
            light.chunks(ROWS_PER_IMAGE).map(|image| mean(image.iter().copied())).collect();
        let squares: Vec<f64> = means.iter().map(|value| value * value).collect();
        assert!(z_score(&squares, 1.0 + WITHIN * WITHIN / ROWS_PER_IMAGE as f64).abs() < 4.5);
        let within = light
            .chunks(ROWS_PER_IMAGE)
            .zip(&means)
            .flat_map(|(image, centre)| image.iter().map(move |value| (value - centre).powi(2)));
        let count = ROWS_PER_IMAGE as f64;
        let expected = WITHIN * WITHIN * (count - 1.0) / count;
        assert!(z_score(&within.collect::<Vec<_>>(), expected).abs() < 4.5);
        // Half of all rows are of either class, by images.
        let shares: Vec<f64> =
            class.chunks(ROWS_PER_IMAGE).map(|image| mean(image.iter().copied())).collect();
        assert!(z_score(&shares, 0.5).abs() < 4.5);
        // Far more images have one class only than would if rows were independent.
        let pure = shares.iter().filter(|share| **share < 0.1 || **share > 0.9).count();
        assert!(pure > images / 4, "{pure}");
        let signal: Vec<f64> = x1.iter().zip(class).map(|(x, c)| x * (c - 0.5)).collect();
        assert!(z_score(&signal, 0.0) > 20.0);
        let images = column(&drawn, "image");
        assert!((images[ROWS_PER_IMAGE] - 1.0).abs() < 1e-12 && images[0].abs() < 1e-12);
    }

    #[test]
    fn images_of_the_thesis_are_of_its_size_and_their_clues_tell() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let drawn = FOREST.draw(FOREST_IMAGES * FOREST.rows, &mut stream(33));
        assert_eq!((drawn.rows(), drawn.names().len()), (4800, 84 + 2));
        let [first, class] = ["lighting48", "class"].map(|it| column(&drawn, it));
        let within: Vec<f64> = first
            .chunks(FOREST.rows)
            .flat_map(|image| {
                let centre = mean(image.iter().copied());
                image.iter().map(move |value| (value - centre).powi(2))
            })
            .collect();
        assert!(z_score(&within, WITHIN * WITHIN * 0.99).abs() < 4.5);
        let clue = column(&drawn, "x36");
        let signal: Vec<f64> = clue.iter().zip(class).map(|(x, c)| x * (c - 0.5)).collect();
        assert!(z_score(&signal, 0.0) > 4.5);
        assert!(z_score(clue, 0.0).abs() < 4.5);
    }
}
